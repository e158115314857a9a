#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The harness itself: what tests/vm/run and tests/lib/tap.awk promise. Needs no module.
cd "$(dirname "$(realpath "$0")")/../.." || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0

# check NAME COMMAND…
check() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@"; then echo "ok $n - $name"; else echo "not ok $n - $name"; failed=1; fi
}

# vm NAME ARG…: tests/vm/run, its output and exit status left in $tmp/NAME.*
vm() {
	local name=$1
	shift
	tests/vm/run --no-module "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null
	echo $? >"$tmp/$name.status"
}
# vm_aborted: as vm, of which QEMU aborts as soon as it runs.
vm_aborted() {
	local run qemu='' i
	tests/vm/run --no-module --fast -- echo once >"$tmp/aborted.out" 2>"$tmp/aborted.err" </dev/null &
	run=$!
	for ((i = 0; i < 600; i++)); do
		qemu=$(pgrep -P "$(pgrep -P $run -x timeout | head -n 1)" 2>/dev/null) && [ -n "$qemu" ] && break
		sleep 0.1
	done
	kill -ABRT "$qemu"
	wait $run
	echo $? >"$tmp/aborted.status"
}
status_is() { [ "$(cat "$tmp/$1.status")" = "$2" ] || { sed 's/^/# /' "$tmp/$1.err"; false; }; }
says() { grep -qe "$2" "$tmp/$1.err" || { sed 's/^/# /' "$tmp/$1.err"; false; }; }

tests/vm/run --build-only --no-module
args=('a  b' "it's" '"q" $HOME *' '' $'two\nlines' 'é')
mkdir "$tmp/out"
# Two at a time.
(
	vm args --fast -- printf '<%s>\n' "${args[@]}"
	vm hang --fast --timeout 12 -- sleep 1000
	# shellcheck disable=SC2016
	MTAG_VM_OUT=$tmp/out vm status --fast --cpus 1 --mem 512M -- sh -c 'pwd; nproc; id -u; echo error >&2
		sleep 1000 & (sleep 0.1 & exit); touch new; echo carried >"$0"/file; exit 7' "$tmp/out"
) &
mkdir "$tmp/home"
ln -s "$(realpath "${XDG_CACHE_HOME:-$HOME/.cache}/mtag")" "$tmp/home/mtag"
# shellcheck disable=SC2016
XDG_CACHE_HOME=$tmp/home vm big --fast -- sh -c 'head -c 20000000 /dev/zero; test -e "/lib/modules/$(uname -r)/build/Makefile"'
vm panic --fast -- sh -c 'echo c >/proc/sysrq-trigger'
vm warning --fast -- sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at selftest" >/dev/kmsg'
vm icount --fast --icount -- sh -c 'cat /proc/loadavg >/dev/null; nproc'
vm_aborted
vm unknown --kernel no-such-kernel -- true
# guest-tap with a health and parameters that tests write: each of them "ID REPAIRS SETTING COMMAND".
mkdir "$tmp/health"
while read -r id allowed setting command; do
	printf '%s\t30\t%s\t%s\t%s\n' "$id" "$allowed" "$setting" "sh -c '$command'"
done >"$tmp/health/list" <<-'END'
	none 0 linger_ms=7 cat /sys/module/mtag/parameters/linger_ms; echo 8 >/sys/module/mtag/parameters/max_stacks
	as_many 2 linger_ms=7 echo repairs 7 >/sys/kernel/debug/mtag/health
	more 2 count_down=1 echo repairs 10 >/sys/kernel/debug/mtag/health
	any any count_down=1 echo repairs 99 >/sys/kernel/debug/mtag/health
	anew 1 count_down=1 rm /sys/kernel/debug/mtag/health; echo repairs 2 >/sys/kernel/debug/mtag/health
	gone 0 count_down=1 rm /sys/kernel/debug/mtag/health; cd /sys/module/mtag/parameters; cat linger_ms max_stacks count_down
END
MTAG_VM_OUT=$tmp/health vm health --fast -- sh -c 'mount -t tmpfs tmpfs /sys/kernel/debug &&
	mkdir /sys/kernel/debug/mtag && echo repairs 5 >/sys/kernel/debug/mtag/health &&
	mount -t tmpfs tmpfs /sys/module && mkdir -p /sys/module/mtag/parameters && for name in linger_ms max_stacks count_down; do
		echo 5 >/sys/module/mtag/parameters/$name; done && tests/vm/guest-tap "$0"' "$tmp/health"
wait

check "arguments arrive as they were given" cmp -s "$tmp/args.out" <(printf '<%s>\n' "${args[@]}")
check "success is status 0" status_is args 0
check "the exit status is the command's" status_is status 7
check "directory, processors, user, output" cmp -s "$tmp/status.out" <(printf '%s\n' "$PWD" 1 0 error)
check "what the guest writes to the root is thrown away" test ! -e new
check "what it writes to MTAG_VM_OUT stays" grep -q carried "$tmp/out/file"
check "20 MB of output arrive" cmp -s "$tmp/big.out" <(head -c 20000000 /dev/zero)
check "a hang ends with status 124" status_is hang 124
check "a hang is explained" says hang "still running after 12 s"
check "a panic ends with status 125" status_is panic 125
check "a panic is shown" says panic "sysrq_handle_crash"
check "a warning in the kernel's log ends with status 125" status_is warning 125
check "a warning is shown" says warning "WARNING: CPU: 0 PID: 1 at selftest"
check "with --icount a command runs" status_is icount 0
check "a cache behind a link in /tmp is seen" status_is big 0
check "after QEMU itself has aborted, the guest starts again" status_is aborted 0
check "and the command runs once" cmp -s "$tmp/aborted.out" <(echo once)
check "an unknown kernel is refused" status_is unknown 125
check "an unknown kernel's error names the known ones" says unknown "known:.* 6\.1 "

# repairs ID WANT: what guest-tap added to that test's log.
repairs() {
	local got
	got=$(grep '^mtag health:' "$tmp/health/$1.dmesg" 2>&1)
	[ -f "$tmp/health/$1.status" ] && [ "$got" = "$2" ] || { echo "# $got"; false; }
}
check "repairs: none are none" repairs none ''
check "repairs: as many as the test allows" repairs as_many ''
check "repairs: more than it allows are a failure" repairs more "mtag health: repairs 3, but the test's vm: line allows 2"
check "repairs: any number" repairs any ''
check "repairs: a module that was loaded anew counts from 0" repairs anew \
	"mtag health: repairs 2, but the test's vm: line allows 1"
check "repairs: no module, no repairs" repairs gone ''
prints() { cmp "$tmp/health/$1.out" <(printf '%s\n' "${@:2}"); }
check "parameters: a test has that of the module for which it asks" prints none 7
check "parameters: those of tests before it are as they were" prints gone 5 5 1

# tap STATUS LINE…: the judge's first line.
tap() { local s=$1; shift; printf '%s\n' "$@" | awk -v status="$s" -f tests/lib/tap.awk | head -n 1; }
judged() { local want=$1; shift; [ "$(tap "$@")" = "$want" ] || { echo "# $(tap "$@")"; false; }; }
check "TAP: all well" judged "2 0 0" 0 1..2 "ok 1" "ok 2 - two"
check "TAP: a failure" judged "1 1 0" 1 "ok 1" "not ok 2 - two" 1..2
check "TAP: a skipped test" judged "1 0 1" 0 1..2 "ok 1" "ok 2 - two # SKIP why"
check "TAP: all skipped" judged "0 0 1" 0 "1..0 # SKIP why"
check "TAP: a plan that was not kept" judged "1 1 0" 0 1..2 "ok 1"
check "TAP: no plan" judged "1 1 0" 0 "ok 1"
check "TAP: nothing" judged "0 1 0" 0 ""
check "TAP: crashed after its plan was kept" judged "1 1 0" 139 1..1 "ok 1"
check "TAP: time limit" judged "1 1 0" 124 1..1 "ok 1"
# shellcheck source=tests/vm/log.sh
. tests/vm/log.sh
# failing LINE…: how many of these lines fail a run.
failing() {
	local want=$1
	shift
	printf '%s\n' "$@" >"$tmp/log"
	[ "$(log_failures "$tmp/log" | wc -l)" = "$want" ] || { log_failures "$tmp/log" | sed 's/^/# /'; false; }
}
bar=$(printf '=%.0s' {1..66})
oom="t invoked oom-killer: gfp_mask=0x1, order=0"
race=("$bar" "BUG: KCSAN: data-race in vmstat / vmstat" " vmstat+0x1/0x2")
check "log: checkers that start are no failure" failing 0 "rcu: 	RCU lockdep checking is enabled." \
	"kasan: KernelAddressSanitizer initialized" "ODEBUG: selftest passed" \
	"kmemleak: Kernel memory leak detector initialized (mem pool available: 40000)"
check "log: what is said when the power is down is none" failing 0 "reboot: Power down" \
	"WARNING: arch/x86/kernel/apic/ipi.c:71 at native_smp_send_reschedule" "Call Trace:"
check "log: but if it is of mtag" failing 2 "BUG: before" "reboot: Power down" "Call Trace:" " f+0x1/0x2 [mtag]"
check "log: their functions, on the stack of whom the OOM killer helped, are none" failing 0 \
	"$oom" "Call Trace:" " ? lockdep_hardirqs_on+0x7d/0x100"
check "log: what each of them reports is" failing 9 "BUG: KASAN: use-after-free in f+0x1/0x2" \
	"WARNING: possible circular locking dependency detected" "WARNING: suspicious RCU usage" \
	"BUG: sleeping function called from invalid context at f.c:1" "UBSAN: shift-out-of-bounds in f.c:1:1" \
	"ODEBUG: free active (active state 0) object type: work_struct" "unreferenced object 0xffff888000000000" \
	"kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)" "mtag health: foreign 1"
check "log: a data race of the kernel's own is not" failing 0 "${race[@]}" "$bar"
check "log: one with mtag in its trace is" failing 1 "${race[@]}" " mtag_report+0x1/0x2 [mtag]" "$bar"
check "log: one of an interrupt that came in mtag is not" failing 0 "${race[@]}" " asm_sysvec_apic_timer_interrupt+0x1b/0x20" \
	" mtag_report+0x1/0x2 [mtag]" "$bar"
check "log: one of mtag with an interrupt is" failing 1 "${race[@]}" " asm_sysvec_apic_timer_interrupt+0x1b/0x20" "" \
	"write to 0xff37d04e0c41df58 of 8 bytes by task 185 on cpu 0:" " mtag_report+0x1/0x2 [mtag]" "$bar"
check "log: a data race of the kernel's own before the OOM killer's trace changes nothing" failing 0 "$oom" \
	"${race[@]}" " "{1..9} "$bar" "Call Trace:"
check "log: a trace long after the OOM killer's words is a failure" failing 1 "$oom" "- "{1..9} "Call Trace:"
resize=("$bar" "BUG: KCSAN: data-race in mtag_tree_put [mtag] / rht_deferred_worker" "" \
	" mtag_tree_put+0x1/0x2 [mtag]" "" "read to 0xff37d04d84c00b40 of 8 bytes by task 16 on cpu 0:" "$bar")
check "log: one of a hash table that is resized with its own lock is not" failing 0 "${resize[@]/#"read to"/"read-write (marked) to"}"
check "log: one with it and no lock is" failing 1 "${resize[@]}"
check "log: one with it after one without is" failing 1 "${race[@]}" "$bar" "${race[@]}" \
	" mtag_report+0x1/0x2 [mtag]"
killed="[  1.0] Out of memory: Killed process 185 (hog) total-vm:1055308kB, anon-rss:496008kB"
no_page=("[  1.1] hog: page allocation failure: order:0, mode:0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)"
	"[  1.1] CPU: 0 UID: 0 PID: 185 Comm: hog Not tainted" "[  1.1] Call Trace:" "[  1.1]  <TASK>")
check "log: no page for whom the OOM killer has killed is no failure" failing 0 "$killed" "${no_page[@]}" "</TASK>"
check "log: with mtag in its trace it is" failing 1 "$killed" "${no_page[@]}" " mtag_report+0x1/0x2 [mtag]" "</TASK>"
check "log: for another process it is" failing 1 "${killed/185/186}" "${no_page[@]}" "</TASK>"
# shellcheck source=tests/lib/kept.sh
. tests/lib/kept.sh
cache=$tmp
mkdir -p "$tmp/kernels" "$tmp/tree"/{docs,kmod,tests/{kernel/lib,unit}}
ln -s a "$tmp/kernels/6.1"
cd "$tmp/tree" || exit
git init -q
git -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m 1
for file in kmod/main.c docs/mtag.md tests/unit/text.c tests/kernel/{own,other}.h \
	tests/kernel/lib/{shared,other}.{c,h} tests/kernel/t_{one.c,two.sh}; do echo new >"$file"; done
line=$'7\t0\t1\t12\t6.1\tt_two\t''tests/kernel/t_two.sh 5'
counted=$'6.1 # counts: tags=1\n6.1 # counts: tags=2'
two() { kept_file "tests/kernel/t_two.sh ${1:-5}" 6.1 "${2:-how}"; }
again() { kept_open "$tmp/kept"; test -e "$(two)"; }
not_again() { ! again; }
kept_open "$tmp/kept"
keep "$(two)" name "$line" "$counted"
check "kept: a result" test "$(kept_result "$(two)")" = "$line"
check "kept: what was counted" test "$(kept_counts "$(two)")" = "$counted"
check "kept: not one with other arguments" test ! -e "$(two 6)"
check "kept: nor of a VM that is run otherwise" test ! -e "$(two 5 otherwise)"
ln -sfn b "$tmp/kernels/6.1"
check "kept: nor of another kernel" not_again
ln -sfn a "$tmp/kernels/6.1"
keep "$(kept_file tests/unit/text)" name "$line" ''
echo newer | tee docs/mtag.md tests/kernel/other.h >tests/kernel/t_one.c
check "kept: for as long as nothing changes but documents, other tests, and what those are made of" again
check "kept: on the host not when a document does, which is packaged" test ! -e "$(kept_file tests/unit/text)"
echo "t_one" >tests/kernel/t_two.sh
check "kept: not when the test does" not_again
keep "$(two)" name "$line" ''
echo newest >tests/kernel/t_one.c
check "kept: nor when one does that it runs" not_again
echo '#include "own.h"' >tests/kernel/t_one.c
kept_open "$tmp/kept"
keep "$(two)" name "$line" ''
echo newer >tests/kernel/own.h
check "kept: nor when a header does of what it runs" not_again
echo '#include "lib/shared.h"' >tests/kernel/own.h
kept_open "$tmp/kept"
keep "$(two)" name "$line" ''
echo newer >tests/kernel/lib/other.c
check "kept: for as long as only that changes in tests/kernel/lib which it does not use" again
echo newer >tests/kernel/lib/shared.c
check "kept: not when the source does that belongs to a header of its" not_again
keep "$(two)" name "$line" ''
echo newer >kmod/main.c
check "kept: nor any other source" not_again
echo "1..$n"
exit "${failed:-0}"
