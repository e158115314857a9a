#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Direct calls, ftrace and kprobes give the same numbers, whoever hooks the same functions, and switching function
# tracing off cannot silently stop mtag.
# vm: brief=1 timeout=500 repairs=1
# vm: group=plain module=linger_ms=2000 mem=2G timeout=500 repairs=1 args=t_rules_anon t_virt t_fork
# vm: group=modules module=linger_ms=2000 mem=2500M timeout=3000 long=1 repairs=any because="some of these tests allow some" args=t_batch t_by_map t_by_tid t_count_beside t_end t_file t_guard t_hwpoison t_ksm t_lifetime t_mremap t_mthp t_placeless t_pss t_regress t_stacks t_stacks_bare t_stacks_moved t_swap t_swap_host t_thp t_threads t_track t_uffd t_uffd_move t_write
. tests/kernel/lib.sh
tmp=$(mktemp -d)
huge=/sys/kernel/mm/transparent_hugepage
rt='' modes='direct ftrace kprobes'
[[ $(uname -v) != *PREEMPT_RT* ]] || rt=1 modes='direct ftrace'
declare -A how=([direct]='force_ftrace=1' [ftrace]='force_ftrace=1 direct=0' [kprobes]='force_kprobes=1')
hot=$(modinfo -F hooks "$MTAG_MODULE" |
	grep -owE "(page|folio)_(add_new_anon_rmap|(remove|add_file)_rmap(_ptes)?)" | sort -u)

# mode_of FUNCTION: how it is hooked, by the list that was read while something was tracked.
mode_of() { awk -v f="$1" '$1 == f {print $2}' "$tmp/hooks"; }
swap_on_zram 256M || echo "# no zram: nothing is paged out"
# The workload's huge page is not khugepaged's business.
[ ! -d $huge ] || echo 1000000 >$huge/khugepaged/scan_sleep_millisecs

for mode in $modes; do
	unload
	ok $? "the module can be unloaded before ${how[$mode]}"
	# shellcheck disable=SC2086
	check "it loads with ${how[$mode]}" load ${how[$mode]} || continue
	is "$(health mode)" "${mode/direct/ftrace}" "health says ${mode/direct/ftrace}"
	mtagctl run -- cat /sys/kernel/debug/mtag/hooks >"$tmp/hooks"
	for function in $hot; do
		is "$(mode_of "$function")" $mode "$function is hooked by $mode"
	done
	$bin/tagger numbers >"$tmp/$mode" 2>&1
	is $? 0 "$mode: the workload is exact" || sed 's/^/# /' "$tmp/$mode"
	# By direct calls they run by themselves.
	also=("$@")
	[ $mode != direct ] || [ -n "${MTAG_LONG:-}" ] || also=()
	for test in "${also[@]}"; do
		"$bin/$test" >"$tmp/out" 2>&1
		is $? 0 "$mode: $test passes" || grep -v '^ok' "$tmp/out" | sed 's/^/# /'
	done
	is "$(health drift)" 0 "$mode: no drift"
	is "$(health lost)" 0 "$mode: nothing lost"
done
cmp -s "$tmp/direct" "$tmp/ftrace"
ok $? "direct calls give the same numbers" || diff "$tmp/direct" "$tmp/ftrace" | sed 's/^/# /'
if [ -z "$rt" ]; then
	cmp -s "$tmp/ftrace" "$tmp/kprobes"
	ok $? "kprobes give the same numbers" || diff "$tmp/ftrace" "$tmp/kprobes" | sed 's/^/# /'
else
	unload
	load force_kprobes=1 2>/dev/null
	is $? 1 "PREEMPT_RT: force_kprobes=1 is refused"
	dmesg | tail -n 5 | grep -q 'mtag: no kprobes on PREEMPT_RT'
	ok $? "PREEMPT_RT: and the kernel's log says why"
	load
fi

unload
check "it loads again" load
coproc TAGGER { exec $bin/tagger outlive; }
read -r line <&"${TAGGER[0]}"
is "$line" "init 0" "a program attaches"
pid=$TAGGER_PID
if [ -e /proc/sys/kernel/ftrace_enabled ]; then
	(echo 0 >/proc/sys/kernel/ftrace_enabled) 2>"$tmp/refusal"
	now=$(cat /proc/sys/kernel/ftrace_enabled)
	if [ "$(health mode)" = ftrace ]; then
		is "$now" 1 "kernel.ftrace_enabled=0 is refused while mtag needs it"
		# Since 7.3 nobody can switch it off.
		grep -qiE 'busy|not supported' "$tmp/refusal"
		ok $? "with EBUSY or EOPNOTSUPP" || sed 's/^/# /' "$tmp/refusal"
	fi
	echo >&"${TAGGER[1]}"
	read -r line <&"${TAGGER[0]}"
	mtagctl -j audit "$pid" >"$tmp/audit"
	is $? 0 "whatever it said, the process is exact after that" || sed 's/^/# /' "$tmp/audit"
	echo 1 >/proc/sys/kernel/ftrace_enabled
fi

# A tracer on the same functions slows mtag down, but changes no number.
if cd /sys/kernel/tracing && echo $hot >set_ftrace_filter && echo function >current_tracer; then
	cd - >/dev/null || exit
	$bin/tagger numbers >"$tmp/traced" 2>&1
	is $? 0 "with the function tracer on the same functions the workload is exact"
	echo nop >/sys/kernel/tracing/current_tracer
	echo >/sys/kernel/tracing/set_ftrace_filter
	# On PREEMPT_RT the tracer keeps mtag from allocating: owners of what is paged out may be lost.
	cmp -s "$tmp/traced" "$tmp/ftrace" || { [ -n "$rt" ] && [ "$(health lost)" -gt 0 ]; }
	ok $? "and gives the same numbers${rt:+, or says that it lost some}" || diff "$tmp/traced" "$tmp/ftrace" | sed 's/^/# /'
else
	cd - >/dev/null 2>&1 || exit
	skip "the function tracer beside mtag changes no number (no such tracer here)"
fi
eval "exec ${TAGGER[1]}>&-"
wait "$pid"
is $? 0 "the attached program ends well"
is "$(health drift)" 0 "no drift in the end"
rm -rf "$tmp"
done_testing
