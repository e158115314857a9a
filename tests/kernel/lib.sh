# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the kernel tests that are scripts share. They run as root, from the repository's directory.
bin=build/tests/kernel
debug=/sys/kernel/debug/mtag
tap_run=0 tap_failed=0

# Debian 12's jq 1.6 takes 172 million instructions to start, 1.7 takes 7. Where the cache has the root of a later
# release (tests/vm/root.sh) its jq is run, by its own loader.
jq_17=()
if [ "$(jq --version 2>/dev/null)" = jq-1.6 ]; then
	for jq_root in "$([ ! -r /run/vm/conf ] || . /run/vm/conf; echo "${cache:-${XDG_CACHE_HOME:-$HOME/.cache}/mtag}")"/roots/trixie-????????????; do
		[ ! -x "$jq_root/usr/bin/jq" ] || jq_17=("$jq_root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
			--library-path "$jq_root/usr/lib/x86_64-linux-gnu" "$jq_root/usr/bin/jq")
	done
	[ ${#jq_17[@]} = 0 ] || jq() { "${jq_17[@]}" "$@"; }
fi

# ok STATUS NAME
ok() {
	tap_run=$((tap_run + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_run - $2"
	else
		echo "not ok $tap_run - $2"
		tap_failed=1
	fi
	return "$1"
}
# check NAME COMMAND…: its status; what it says is a diagnostic.
check() {
	local name=$1 status
	shift
	"$@" 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	ok "$status" "$name"
}
# is GOT WANT NAME
is() {
	[ "$1" = "$2" ] || echo "#   got '$1', want '$2'"
	[ "$1" = "$2" ]
	ok $? "$3"
}
# wide FILE…: their lines of more than 80 columns; awk would count bytes, and a "±" has two.
wide() { LC_ALL=C.UTF-8 grep -hE '^.{81}' "$@"; }
# runs NAME COMMAND… PROGRAM: checks that it succeeds, if its dynamic linker is here.
runs() {
	local loader
	loader=$(readelf -lW "${!#}" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	if [ -z "$loader" ] || [ -e "$loader" ]; then check "$@"; else skip "$1 (no $loader here)"; fi
}
skip() {
	tap_run=$((tap_run + 1))
	echo "ok $tap_run - $1 # SKIP"
}
bail() {
	echo "Bail out! $*"
	exit 1
}
done_testing() {
	echo "1..$tap_run"
	exit $tap_failed
}

# until_true SECONDS COMMAND…: polls it, less and less often, as programs are dear in an emulator; for three times as
# long where that takes: see until() in lib/tap.h.
until_true() {
	local end=$((SECONDS + $1 * 3 * ${MTAG_SLOW:-1})) pauses=(0.05 0.1 0.2 0.4)
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		read -rt "${pauses[0]}" <> <(:)
		[ ${#pauses[@]} = 1 ] || pauses=("${pauses[@]:1}")
	done
	return 0
}

# more SHORT LONG: how much of something: the first, or the second with tests/run-all --long.
more() { if [ -n "${MTAG_LONG:-}" ]; then echo "$2"; else echo "$1"; fi; }

# From here on khugepaged fills no gaps: what is resident stays as it is.
no_khugepaged() { echo 1000000 >/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs; } 2>/dev/null

# A CPU that runs a kernel thread keeps the mm that it had, though its process has ended.
visit_cpus() {
	local cpu
	for cpu in /sys/devices/system/cpu/cpu[0-9]*; do taskset -c "${cpu##*cpu}" true; done
}

health() { awk -v name="$1" '$1 == name {print $2}' $debug/health; }

# load PARAMETER…
load() { insmod "$MTAG_MODULE" "$@"; }
# A call or a file that is being closed may hold the module for a moment. What it said last is shown.
unload() {
	local end=$((SECONDS + 180 * ${MTAG_SLOW:-1})) said status
	until said=$(rmmod mtag 2>&1); do
		status=$?
		if [ $SECONDS -ge $end ]; then
			echo "# rmmod: status $status: $said"
			return 1
		fi
		[[ $said == *'in use'* ]] || echo "# rmmod: status $status: ${said:-nothing said}"
		grep -q '^mtag ' /proc/modules || return 1
		read -rt 0.05 <> <(:)
	done
	return 0
}

no_zram_yet() { ! grep -q zram /proc/swaps; }
swap_on_zram() { # SIZE
	local id
	no_zram_yet || return 0
	modprobe zram && id=$(cat /sys/class/zram-control/hot_add) && echo "$1" >"/sys/block/zram$id/disksize" &&
		mkswap -q "/dev/zram$id" >/dev/null && swapon "/dev/zram$id"
}

