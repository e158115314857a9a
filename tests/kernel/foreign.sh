# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the tests with foreign programs share: a machine under pressure, work in a control group that
# can be frozen, and the verdict.
. tests/kernel/lib.sh
tmp=$(mktemp -d)
work=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/work
thp=/sys/kernel/mm/transparent_hugepage
ksm=/sys/kernel/mm/ksm
audits=0 audited=0

finish_work() {
	[ -z "${compactor:-}" ] || kill "$compactor" 2>/dev/null
	echo 0 >"$work/cgroup.freeze"
	echo 1 >"$work/cgroup.kill"
	until_true 30 eval '! grep -q . "$work/cgroup.procs"'
	rmdir "$work"
	rm -rf "$tmp"
} 2>/dev/null
trap finish_work EXIT

# small_folios: how many faults were answered by a folio of several pages that is no huge page.
small_folios() {
	local faults sum=0
	for faults in "$thp"/hugepages-*kB/stats/anon_fault_alloc; do
		[ ! -e "$faults" ] || [[ $faults == */hugepages-2048kB/* ]] || sum=$((sum + $(cat "$faults")))
	done
	echo $sum
}

# pressure SIZE: huge pages and folios of all sizes always where the kernel has them, KSM, swap on zram of that
# size, compaction again and again.
pressure() {
	local enabled

	mkdir -p "$work"
	chmod 755 "$tmp"
	swap_on_zram "$1" || bail "no swap on zram"
	# PREEMPT_RT has none.
	if [ -d $thp ]; then
		echo always >$thp/enabled
		for enabled in $thp/hugepages-*kB/enabled; do
			[ ! -e "$enabled" ] || echo always >"$enabled"
		done
		echo always >$thp/defrag
		echo 200 >$thp/khugepaged/scan_sleep_millisecs
		echo 4096 >$thp/khugepaged/pages_to_scan
	fi
	echo 1000 >$ksm/pages_to_scan
	echo 20 >$ksm/sleep_millisecs
	echo 1 >$ksm/run
	sysctl -q vm.swappiness=150 2>/dev/null
	while :; do
		echo 1 >/proc/sys/vm/compact_memory
		read -rt 1 <> <(:)
	done &
	compactor=$!
	ended_before=$(health ended) lost_before=$(health lost) unmended_before=$(health dirty_ended)
	folios_before=$(small_folios)
}

# tracked TAG COMMAND…: runs it tracked, in the control group; with $stacks set, with its stacks.
stacks=
tracked() {
	local tag=$1
	shift
	(
		echo $BASHPID >"$work/cgroup.procs"
		exec mtagctl run ${stacks:+--stacks} -t "$tag" -- "$@"
	)
}

frozen() { grep -q '^frozen 1' "$work/cgroup.events"; }

# audit_work: freezes the work, compares every process's counters with its page tables, thaws it.
# Frozen, because a process's own counters and the kernel's are read one after the other.
audit_work() {
	local bad
	echo 1 >"$work/cgroup.freeze"
	until_true 30 frozen || echo "# the work does not freeze"
	mtagctl -j audit >"$tmp/audit" 2>"$tmp/audit.err" || echo "# audit: status $? $(head -n 1 "$tmp/audit.err")"
	echo 0 >"$work/cgroup.freeze"
	audits=$((audits + 1))
	audited=$((audited + $(jq length "$tmp/audit")))
	bad=$(jq -c '.[] | select(.drift_pages != 0 or .lost != 0)' "$tmp/audit")
	[ -z "$bad" ] || { echo "$bad" | head -n 20 | sed 's/^/# drift: /'; return 1; }
}

# watch_work PID NAME: audits from time to time until the process ends; its exit status.
watch_work() {
	local wrong=0 next=$((SECONDS + 1))
	while kill -0 "$1" 2>/dev/null; do
		if [ $SECONDS -ge $next ]; then
			audit_work || wrong=1
			next=$((SECONDS + 5))
		fi
		read -rt 0.3 <> <(:)
	done
	ok $wrong "$2: while it runs every audit says drift 0, lost 0"
	wait "$1"
}

# lifetimes: how many of the processes have ended.
lifetimes() { echo $(($(health ended) - ended_before)); }

# verdict LEAST: the work is over; at least so many processes' lives must have been checked.
verdict() {
	local lifetimes
	kill "$compactor"
	wait "$compactor" 2>/dev/null
	echo 1 >"$work/cgroup.kill"
	until_true 60 eval '! grep -q . "$work/cgroup.procs"'
	ok $? "all of it has ended"
	# An mm may live a little longer than its last process.
	until_true 60 eval 'visit_cpus; [ "$(health tracked)" = 0 ]'
	lifetimes=$(lifetimes)
	echo "# $lifetimes process lifetimes checked, $audits audits of $audited processes"
	echo "# counts: lifetimes=$lifetimes audits=$audited"
	echo "# $(tr '\n' ' ' <$debug/health)"
	grep -E '^(pgmigrate_success|pswpout|pswpin|thp_fault_alloc|thp_split_page|thp_collapse_alloc|ksm_swpin_copy|compact_success|oom_kill) ' \
		/proc/vmstat | tr '\n' ' ' | sed 's/^/# /'
	echo
	[ "$lifetimes" -ge "$1" ]
	ok $? "$1 process lifetimes or more were checked ($lifetimes)"
	is "$(health drift)" 0 "every process that ended had all counters at 0"
	is "$(health lost)" "$lost_before" "nothing was lost"
	is "$(health dirty_ended)" "$unmended_before" "no process ended before its counters were mended"
	[ "$audited" -gt 0 ]
	ok $? "processes were audited while they ran"
	if [ -e $thp/hugepages-64kB/stats/anon_fault_alloc ]; then
		[ $(($(small_folios) - folios_before)) -ge 1 ]
		ok $? "folios between a page and a huge page came by faults ($(($(small_folios) - folios_before)))"
	fi
	done_testing
}
