# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/run-all and tests/vm/run: says on stderr what a long step does and how far it is. On a terminal
# that is one line, rewritten in place and cleared before other output. Elsewhere a step is one line, printed when
# it begins.

progress_columns=''
[ ! -t 2 ] || [ "${TERM:-dumb}" = dumb ] || progress_columns=$(stty size <&2 2>/dev/null | cut -d ' ' -f 2)
[ "$progress_columns" != 0 ] || progress_columns=80
progress_pid=''

# progress TEXT: on a terminal only.
progress() { [ -z "$progress_columns" ] || printf '\r\033[K%.*s' $((progress_columns - 1)) "$1" >&2; }
progress_clear() { [ -z "$progress_columns" ] || printf '\r\033[K' >&2; }

# progress_begin TEXT [COMMAND…]: a step begins, which lasts until progress_end. COMMAND prints how far it is.
progress_begin() {
	[ -n "$progress_columns" ] || echo "$1" >&2
	progress_follow "$@"
}

# progress_follow TEXT [COMMAND…]: the same, but says nothing where there is no terminal.
progress_follow() {
	[ -n "$progress_columns" ] || return 0
	exec {progress_pipe}> >(progress_loop "$@" >/dev/null)
	progress_pid=$!
}

# progress_loop: until the other end of its input is closed. Not until it is killed: a child that gets a signal
# just after the fork may still run the script's own trap.
progress_loop() {
	local text=$1 start=$SECONDS state status
	shift
	while :; do
		state=$([ $# = 0 ] || "$@" 2>/dev/null || :)
		progress "$text: ${state:+$state, }$((SECONDS - start)) s"
		status=0
		read -rt 1 || status=$?
		[ $status -gt 128 ] || return 0
	done
}

progress_end() {
	[ -n "$progress_pid" ] || return 0
	exec {progress_pipe}>&-
	wait "$progress_pid" || :
	progress_pid=''
	progress_clear
}

# progress_size PATH…: how much is there; nothing if nothing is.
progress_size() { du -csh "$@" 2>/dev/null | sed -n '/^0/!s/\ttotal$//p'; }
