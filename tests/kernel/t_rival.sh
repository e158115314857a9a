#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Others hook a function that mtag is called by directly, as BPF programs and live patches do: whoever comes first, both
# work, and mtag counts the same.
# vm: group=plain module=linger_ms=0 mem=2G timeout=500 repairs=2 stock=1 because="mtag is not called directly on kernels of our own"
. tests/kernel/beside.sh
cp "${MTAG_MODULE%/*}/rival/rival.ko" "$tmp/rival.ko" || bail "no rival.ko"

rival_comes() { insmod "$tmp/rival.ko" "function=$function" "$@"; }
rival_hits()  { cat /sys/module/rival/parameters/hits; }

before
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
[ -n "$rt" ] || is "$(health lost)" "$lost_before" "nothing lost"
rival_comes && unload && load
ok $? "a part of a hooked function that another module has is not taken for the kernel's"
check "the other one may go" rmmod rival
rm -rf "$tmp"
done_testing
