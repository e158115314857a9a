#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Loading and unloading many times under load, with processes attached, whose stacks are taken: no warning (the
# harness looks), no leak, and those tracked afterwards are exact.
# vm: brief=1 timeout=900 args=1
# vm: group=plain module=linger_ms=2000 mem=2G timeout=900 args=1
# vm: group=modules-long module=linger_ms=2000 mem=1500M timeout=14400 long=1 args=250
. tests/kernel/lib.sh
cycles=${1:-1}
tmp=$(mktemp -d)

# settled_memory: the module's, when what waits for a grace period is freed.
settled_memory() {
	local last='' now
	now=$(health memory)
	until [ "$now" = "$last" ]; do
		sleep 0.5
		last=$now now=$(health memory)
	done
	echo "$now"
}

unload
ok $? "the module can be unloaded at first"
load || bail "the module does not load"
start_memory=$(settled_memory)

# Load that changes memory, forks and execs without end, and programs that attach whenever they can.
# Of the lowest priority: a grace period waits for every task that is in the kernel, and there are
# several in a cycle.
chrt -i 0 stress-ng --fork 1 --vm 1 --vm-bytes 24M --mmap 1 --mmap-bytes 16M --exec 1 --exec-max 4 \
	--temp-path "$tmp" --timeout 0 >/dev/null 2>&1 &
stress=$!
while :; do chrt -i 0 $bin/tagger loop 1 || echo "the loop ended with $?" >>"$tmp/loop"; done &
loop=$!
coproc TAGGER { exec $bin/tagger outlive; }
read -r line <&"${TAGGER[0]}"
outlive=$TAGGER_PID

first=$SECONDS refused=0 failed=0 slowest=0 drift=0 lost=0 ended=0
for ((i = 1; i <= cycles; i++)); do
	began=$SECONDS
	if ! unload; then
		refused=$((refused + 1))
		break
	fi
	load || { failed=$((failed + 1)); break; }
	[ $((SECONDS - began)) -le $slowest ] || slowest=$((SECONDS - began))
	case $((i % 4)) in
	0) mtagctl run --stacks -t reload -- sh -c ': ; /bin/true' || failed=$((failed + 1)) ;;
	1) mtagctl track --stacks "$loop" 2>/dev/null ;;
	2) mtagctl track --stacks "$stress" 2>/dev/null; mtagctl -j show >/dev/null 2>&1 ;;
	esac
	drift=$((drift + $(health drift))) lost=$((lost + $(health lost))) ended=$((ended + $(health ended)))
	[ $((i % 100)) != 0 ] || echo "# $i cycles in $((SECONDS - first)) s"
	[ "$(health drift) $(health lost)" = '0 0' ] || echo "# cycle $i: $(tr '\n' ' ' <$debug/health)"
done
i=$((i - 1))
echo "# $i cycles in $((SECONDS - first)) s, the slowest took $slowest s; $ended lifetimes in between"
echo "# counts: reloads=$i lifetimes=$ended"
is $refused 0 "rmmod is never refused for long"
is $failed 0 "the module loads each time"
is $i "$cycles" "$cycles cycles were made"
is $drift 0 "no process that ended in between had drift"
is $lost 0 "nothing was lost in between"

kill -9 "$stress" $loop 2>/dev/null
wait "$stress" $loop 2>/dev/null
# stress-ng's workers follow their parent.
until_true 30 eval '! pgrep -x "stress-ng.*" >/dev/null'
echo >&"${TAGGER[1]}"
read -r line <&"${TAGGER[0]}"
is "$line" "init -3 active 0" "a program attached to the first of these modules runs on, tracked no more (ESRCH)"
eval "exec ${TAGGER[1]}>&-"
wait "$outlive"
is $? 0 "and ends well"
[ ! -s "$tmp/loop" ]
ok $? "no program that attached meanwhile failed" || sed 's/^/# /' "$tmp/loop"

$bin/tagger numbers >"$tmp/numbers" 2>&1
is $? 0 "a process tracked afterwards is exact" || sed 's/^/# /' "$tmp/numbers"
$bin/t_fork >"$tmp/fork" 2>&1
is $? 0 "the test of forks passes" || grep -v '^ok' "$tmp/fork" | sed 's/^/# /'
unload && cp "$(command -v insmod)" "$tmp/insmod" && "$tmp/insmod" "$MTAG_MODULE"
ok $? "once more, by a program on a tmpfs, whose pages are shared memory"
is "$(settled_memory)" "$start_memory" "the module's memory is what it was at the start"
is "$(health drift)" 0 "no drift"
rm -rf "$tmp"
done_testing
