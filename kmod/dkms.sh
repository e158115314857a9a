#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# dkms.sh build VERSION  builds and installs the module for each kernel here that it supports
# dkms.sh load           loads it, or says why another build of it stays loaded
# dkms.sh unload         unloads it, or says why not
#
# For `make dkms` and for the package. Unloading the module loses what it has counted, and rmmod
# does not refuse: so a module in use stays loaded, with a message.
set -u
health=/sys/kernel/debug/mtag/health

say() { echo "mtag: $*"; }
loaded() { [ -d /sys/module/mtag ]; }
# count NAME: a counter of the loaded module; nothing if it cannot be read.
count() { sed -n "s/^$1 //p" "$health" 2>/dev/null; }

# Builds for every kernel: the dkms package builds for the running and newest kernel only.
build() {
	local dir kernel status failed=0
	for dir in /lib/modules/*/build; do
		kernel=${dir%/build}
		kernel=${kernel##*/}
		[ -e "$dir/include" ] || continue
		case $(dkms status -m mtag -v "$1" -k "$kernel") in *": installed"*) continue ;; esac
		status=0
		dkms install -m mtag -v "$1" -k "$kernel" >/dev/null || status=$?
		case $status in
		0) say "built for $kernel" ;;
		77) say "does not support $kernel"; sh "${0%/*}/compat/known.sh" "$kernel" || : ;;
		*)
			say "does not build for $kernel (dkms exits with $status); the end of its log:" >&2
			# The next build removes it.
			tail -n 20 "/var/lib/dkms/mtag/$1/build/make.log" >&2 2>/dev/null
			failed=1
			;;
		esac
	done
	return $failed
}

# Says in words how many processes the loaded module counts.
who() {
	local n
	n=$(count tracked)
	case ${n:-?} in
	'?') echo "processes may be counted by it" ;;
	1) echo "a process is counted by it" ;;
	*) echo "$n processes are counted by it" ;;
	esac
}

replace() {
	if [ "$(count tracked)" = 0 ] && [ "$(count ended)" = 0 ] && rmmod mtag 2>/dev/null; then
		modprobe mtag || {
			say "built, but this system refuses to load it; the build before it, which had counted nothing, is unloaded"
			return 1
		}
		say "loaded in place of another build, which has counted nothing"
		return
	fi
	say "the loaded module is a different build from the one just installed; $(who)."
	say "It counts on and nothing is lost. The new one takes over at the next boot, or when you run"
	say "    rmmod mtag && modprobe mtag"
	say "which discards these counts: programs run on, but untracked until they are restarted."
}

load() {
	local new
	new=$(modinfo -F srcversion mtag 2>/dev/null)
	if [ -z "$new" ]; then
		say "not built for the running kernel $(uname -r). mtag needs a supported kernel and its headers"
		say "(linux-headers-$(uname -r)). It is loaded when such a kernel boots."
		return 1
	elif ! loaded; then
		# Fails in a container, and where unsigned modules are refused.
		modprobe mtag || { say "built, but this system refuses to load it"; return 1; }
		say "loaded"
	elif [ "$new" != "$(cat /sys/module/mtag/srcversion)" ]; then
		replace
	fi
}

unload() {
	loaded || return 0
	if [ "$(count tracked)" = 0 ] && rmmod mtag 2>/dev/null; then
		say "unloaded"
		return
	fi
	say "the module stays loaded, as it is in use: $(who)."
	say "It is gone after the next boot, or when you run"
	say "    rmmod mtag"
	say "which discards these counts: programs run on, but untracked."
}

case ${1:-} in
build) build "${2:?version}" ;;
load) load ;;
unload) unload ;;
*) sed -n '3,5s/^# //p' "$0" >&2; exit 2 ;;
esac
