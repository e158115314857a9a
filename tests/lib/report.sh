# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by tests/run-all: judges tests, says how they went and how many there still are, and sums them up.

# tell LINE…: in one write, as two VMs may be reporting.
tell() {
	progress_clear
	printf '%s\n' "$@"
}

# result PASSED FAILED SKIPPED [SECONDS KERNEL COMMAND]: a line for the sum, the table and the next run's order.
result() {
	local file=''
	[ -z "${6:-}" ] || { file=${6%% *} file=${file##*/} file=${file%.sh}; }
	printf '%s\t' "${@:1:3}" "${4:-0}" "${5:-}" "$file"
	echo "${6:-}"
}

# record RESULT [COUNTS]: under a name that no other process has, and no other call.
record() {
	local name=$BASHPID.$EPOCHREALTIME
	echo "$1" >"$tmp/results/$name"
	[ -z "${2:-}" ] || echo "$2" >"$tmp/counts.$name"
}

# take_kept NAME FILE: the result that was kept in FILE, if there is one.
take_kept() {
	[ -n "$kept" ] && [ -f "$2" ] || return
	tell "KEPT $1 ($(kept_title "$2"))"
	record "$(kept_result "$2")" "$(kept_counts "$2")"
	echo "$2" >>"$tmp/kept"
}

# judge NAME STEM STATUS SECONDS [KERNEL COMMAND]: says and records how a test went, to STEM.keep if it passed and
# such results are kept. STEM.out is what it said, and where they are, STEM.bad what the kernel's log has that it
# must not have, of STEM.dmesg, and STEM.slow where it was at half of its time.
judge() {
	local name=$1 stem=$2 status=$3 seconds=$4 tap counts notes line counted word=PASS
	tap=$(awk -v status="$status" -f tests/lib/tap.awk "$stem.out")
	read -ra counts <<<"${tap%%$'\n'*}"
	notes=''
	[[ $tap != *$'\n'* ]] || notes=${tap#*$'\n'}
	counted=$(sed -n "s/^# counts: /${5:-host} &/p" "$stem.out")
	if [ -s "$stem.bad" ]; then
		counts[1]=$((counts[1] + 1))
		notes+=${notes:+$'\n'}$'the kernel said:\n'$(cat "$stem.bad")
	fi
	line=$(result "${counts[@]}" "$seconds" "${5:-}" "${6:-}")
	record "$line" "$counted"
	[ "${counts[1]}" = 0 ] || word=FAIL
	[ -z "$kept" ] || [ $word = FAIL ] || keep "$stem.keep" "$name" "$line" "$counted"
	tell "$(
		echo "$word $name (${counts[0]} ok, ${counts[1]} failed, ${counts[2]} skipped, $seconds s)"
		[ -z "$notes" ] || sed 's/^/  - /' <<<"$notes"
		[ ! -s "$stem.slow" ] || sed 's/^/  - slow: /' "$stem.slow"
		[ $word = PASS ] || sed 's/^/    /' "$stem.out"
		[ ! -s "$stem.bad" ] || around "$stem"
	)"
	# Once more at the end, where nobody has to look for it, with what the test said just there.
	[ $word = PASS ] || printf '%s\n' "FAIL $name" "$(sed 's/^/  - /' <<<"$notes" | head -n 12)" \
		"$(grep -B 6 -A 6 '^not ok' "$stem.out" | grep '^#' | sed 's/^/    /' | head -n 24)" \
		"$([ ! -s "$stem.bad" ] || around "$stem")" >"$(mktemp "$tmp/failed.XXXXXX")"
}

# around STEM: what the kernel's log has around the first line that it must not have, which may be a mere "Call Trace".
around() {
	local line
	IFS=: read -r line _ <"$1.bad"
	sed -n "$((line > 8 ? line - 8 : 1)),$((line + 40))s/^/    | /p" "$1.dmesg"
}

fail() { # NAME WHY
	tell "FAIL $1: $2"
	echo "FAIL $1: $2" >"$(mktemp "$tmp/failed.XXXXXX")"
	record "$(result 0 1 0)"
}

# count_tests: sets `total`, of the results that are to come and those that are there.
count_tests() {
	total=$({ [ -z "$host" ] || host_tests; cat "$tmp"/vm/*/list; find "$tmp/results" -type f; } 2>/dev/null | wc -l)
}

# show_progress: how many tests have ended, and which are running.
show_progress() {
	local dir id running=''
	[ -n "$progress_columns" ] || return 0
	for dir in "$tmp"/vm/*/; do
		[ ! -s "$dir/list" ] || ! read -r id _ 2>/dev/null <"$dir/current" || running+=", ${id#*-} [$(option "$dir" kernel)]"
	done
	[ ! -f "$tmp/host.current" ] || running+=", $(cat "$tmp/host.current")"
	progress "$(find "$tmp/results" -type f | wc -l) of $total tests done${running:+; running: ${running#, }}"
}

# tables: the kernels on which all tests run, or the core, and then those with a single VM; so many at a time as fit into
# 80 columns.
tables() {
	local kernel all=() single=() width=4
	for kernel in $kernels; do
		if in_brief "$kernel"; then single+=("$kernel"); else all+=("$kernel"); fi
	done
	[ ${#all[@]} -le $width ] || width=3
	while [ ${#all[@]} -gt 0 ]; do
		table "${all[@]:0:width}"
		all=("${all[@]:width}")
	done
	while [ ${#single[@]} -gt 0 ]; do
		table "${single[@]:0:3}"
		single=("${single[@]:3}")
	done
}
table() { awk -F '\t' -v kernels="$*" -f tests/lib/table.awk "$tmp/only" "$tmp/all"; }

# report: the tables, what failed, and the summary; false if something did, or nothing was tested.
report() {
	local passed failed skipped line
	progress_clear
	cat "$tmp"/results/* >"$tmp/all" 2>/dev/null
	[ ! -f "$cache/seconds" ] || remember_seconds
	tables
	find "$tmp" -name 'counts.*' -exec cat {} + | sort -V | awk -f tests/lib/counts.awk
	find "$tmp" -name 'failed.*' -exec cat {} +
	read -r passed failed skipped < <(awk '{p += $1; f += $2; s += $3} END {print p + 0, f + 0, s + 0}' "$tmp/all")
	[ "$skipped" = 0 ] || echo "$skipped skipped"
	[ ! -s "$tmp/kept" ] || echo "$(wc -l <"$tmp/kept") tests passed in earlier runs, and were not run again: rm -r $kept"
	line="$passed passed, $failed failed"
	if [ -n "$summary" ]; then echo "$line" >"$summary"; else echo "$line"; fi
	[ "$failed" = 0 ] && [ "$passed" != 0 ]
}
