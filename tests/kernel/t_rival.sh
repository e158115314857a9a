#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Others hook a function that mtag is called by directly, as BPF programs and live patches do: whoever comes first, both
# work, and mtag counts the same.
# vm: group=modules module=linger_ms=0 mem=1500M timeout=500 repairs=2 stock=1 because="mtag is not called directly on kernels of our own"
. tests/kernel/lib.sh
tmp=$(mktemp -d)
rt=''
[[ $(uname -v) != *PREEMPT_RT* ]] || rt=1
huge=/sys/kernel/mm/transparent_hugepage
function=$(modinfo -F hooks "$MTAG_MODULE" | grep -owE "(page|folio)_remove_rmap(_ptes)?")
cp "${MTAG_MODULE%/*}/rival/rival.ko" "$tmp/rival.ko" || bail "no rival.ko"
swap_on_zram 256M || echo "# no zram: nothing is paged out"
[ ! -d $huge ] || echo 1000000 >$huge/khugepaged/scan_sleep_millisecs

rival_comes() { insmod "$tmp/rival.ko" "function=$function" "$@"; }
rival_hits()  { cat /sys/module/rival/parameters/hits; }
mode()        { awk -v f="$function" '$1 == f {print $2}' /sys/kernel/debug/mtag/hooks; }
wait_idle()   { until grep -q '^installed 0' /sys/kernel/debug/mtag/health; do sleep 0.1; done; }

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
	cmp -s "$tmp/now" "$tmp/alone" || { [ -n "$rt" ] && [ "$(health lost)" -gt 0 ]; }
	ok $? "$1: its numbers are the same${rt:+, or some are said to be lost}" || diff "$tmp/now" "$tmp/alone" | sed 's/^/# /'
}

$bin/tagger numbers >"$tmp/alone" 2>&1
is $? 0 "alone the workload is exact"

tracks
is "$(mode)" direct "$function calls mtag directly"
rival_comes 2>"$tmp/refusal"
is $? 1 "so the kernel lets nobody else do the same"
grep -qi busy "$tmp/refusal"
ok $? "and says that it is busy"
check "a live patch of it may come" rival_comes patch=1
exact "patched meanwhile"
ok $(($(rival_hits) == 0)) "the patch was called, too"
check "it may go" rmmod rival
exact "the patch has gone"
ends

for how in patch=0 patch=1; do
	check "$how: mtag being idle, another may come first" rival_comes $how
	tracks
	expected=direct
	[ $how = patch=1 ] || expected=ftrace
	is "$(mode)" $expected "$how: then mtag is called by $expected"
	exact "$how is first"
	ok $(($(rival_hits) == 0)) "$how: the other one was called, too"
	check "$how: it may go before mtag" rmmod rival
	exact "$how has gone"
	ends
done
tracks
is "$(mode)" direct "the next time $function calls mtag directly again"
# Who traces the end of a function puts an address of its own in place of the caller's.
tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing
echo "r:mtag/ends $function" >>$tracing/kprobe_events &&
	echo 1 >$tracing/events/mtag/ends/enable
ok $? "a return probe of it may come"
exact "probed at its end"
[ "$(awk '$1 == "ends" {print $2}' $tracing/kprobe_profile)" -gt 0 ]
ok $? "the probe was hit, too"
echo "$function" >$tracing/set_ftrace_filter && echo function_graph >$tracing/current_tracer
ok $? "as may function_graph"
exact "traced besides"
echo 0 >$tracing/events/mtag/ends/enable
echo -:mtag/ends >>$tracing/kprobe_events
exact "traced alone"
[ "$(grep -c "$function" $tracing/trace)" -gt 0 ]
ok $? "the function was traced, too"
echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
exact "nobody traces it any longer"
is "$(health foreign)" 0 "each caller was known all the time"
ends
is "$(health drift)" 0 "no drift"
[ -n "$rt" ] || is "$(health lost)" 0 "nothing lost"
rm -rf "$tmp"
done_testing
