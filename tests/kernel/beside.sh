# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What t_rival.sh and t_bpf.sh share: somebody else hooks the function by which pages are unmapped, and mtag's numbers are
# compared with those without.
. tests/kernel/lib.sh
tmp=$(mktemp -d)
rt=''
[[ $(uname -v) != *PREEMPT_RT* ]] || rt=1
huge=/sys/kernel/mm/transparent_hugepage
function=$(modinfo -F hooks "$MTAG_MODULE" | grep -owE "(page|folio)_remove_rmap(_ptes)?")
swap_on_zram 256M || echo "# no zram: nothing is paged out"
[ ! -d $huge ] || echo 1000000 >$huge/khugepaged/scan_sleep_millisecs

mode()      { awk -v f="$function" '$1 == f {print $2}' /sys/kernel/debug/mtag/hooks; }
wait_idle() { until_true 60 grep -q '^installed 0' $debug/health || bail "the hooks stay in"; }

# before: what health counts from here on is of this test. A module that an earlier test loaded has counted for that, too.
before() { lost_before=$(health lost) repairs_before=$(health repairs); }

# tracks: a program stays tracked, so that the hooks are in. ends: it ends.
tracks() {
	coproc TAGGER { exec $bin/tagger outlive; }
	read -r _ <&"${TAGGER[0]}"
	pid=$TAGGER_PID
}
ends() {
	echo >&"${TAGGER[1]}"
	eval "exec ${TAGGER[1]}>&-"
	wait "$pid"
	wait_idle
}

# exact WHEN: the workload is, and gives the same numbers as without anybody else. On PREEMPT_RT another tracer keeps mtag
# from allocating: owners of what is paged out may be lost, until the hooks have been out, and a walk repairs each run.
exact() {
	$bin/tagger numbers >"$tmp/now" 2>&1
	is $? 0 "$1: the workload is exact"
	cmp -s "$tmp/now" "$tmp/alone" || { [ -n "$rt" ] && [ "$(health lost)" -gt "$lost_before" ]; }
	ok $? "$1: its numbers are the same${rt:+, or some are said to be lost}" || diff "$tmp/now" "$tmp/alone" | sed 's/^/# /'
}

$bin/tagger numbers >"$tmp/alone" 2>&1
is $? 0 "alone the workload is exact"
