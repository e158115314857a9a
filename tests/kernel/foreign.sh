# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the tests with foreign programs share: a machine under pressure, work in a control group that
# can be frozen, and the verdict.
. tests/kernel/lib.sh
tmp=$(mktemp -d)
work=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/work
thp=/sys/kernel/mm/transparent_hugepage
ksm=/sys/kernel/mm/ksm
audits=0 audited=0 stacks_read=0

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
	unstacked_before=$(health stack_lost)
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

# by_tag: of mtagctl's JSON the anonymous memory and swap of each process and tag.
by_tag() {
	jq -c 'map(select(.tag != null and .anon_bytes + .swap_bytes > 0)) | group_by([.pid, .tag])[]
		| [.[0].pid, .[0].tag, (map(.anon_bytes + .swap_bytes) | add)]'
}

# stacks_agree: what is beneath the stacks of each tag of a process is what the tag has; 2: no process has any, as it is
# before `mtagctl run` executes the first program. Pages of what is frozen are merged and moved nevertheless, and the two
# are read one after the other: what differs is read again.
stacks_agree() {
	local try status
	for try in 1 2 3 4 5; do
		mtagctl stacks --no-symbols -j >"$tmp/stacks" 2>"$tmp/stacks.err"
		status=$?
		[ $status = 0 ] || { sed 's/^/# stacks: /' "$tmp/stacks.err"; return $status; }
		by_tag <"$tmp/stacks" >"$tmp/beneath"
		[ -s "$tmp/beneath" ] || return 2
		mtagctl show -j | by_tag | awk -F '[[,]' 'NR == FNR {has[$2]; next} $2 in has' "$tmp/beneath" - >"$tmp/tags"
		! diff "$tmp/beneath" "$tmp/tags" >"$tmp/differ" || return 0
	done
	echo "# stacks: < what is beneath them, > what the tag has, in the last of $try tries"
	head -n 20 "$tmp/differ" | sed 's/^/# /'
	return 1
}

# audit_work: freezes the work, compares every process's counters with its page tables, thaws it.
# Frozen, because a process's own counters and the kernel's are read one after the other.
# 2: there was no process to audit, or none that has stacks.
audit_work() {
	local bad rows status wrong=0 early=
	echo 1 >"$work/cgroup.freeze"
	until_true 30 frozen || echo "# the work does not freeze"
	mtagctl -j audit >"$tmp/audit" 2>"$tmp/audit.err"
	status=$?
	if [ -n "$stacks" ] && [ $stacks_read -lt 3 ]; then
		stacks_agree
		case $? in
		0) stacks_read=$((stacks_read + 1)) ;;
		2) early=1 ;;
		*) wrong=1 ;;
		esac
	fi
	echo 0 >"$work/cgroup.freeze"
	# 3 is drift, of which the rows tell.
	[[ $status == [03] ]] || { echo "# audit: status $status $(head -n 1 "$tmp/audit.err")"; return 1; }
	rows=$(jq length "$tmp/audit") || return 1
	[ "$rows" -gt 0 ] || return 2
	audits=$((audits + 1))
	audited=$((audited + rows))
	bad=$(jq -c '.[] | select(.drift_pages != 0 or .lost != 0)' "$tmp/audit")
	[ -z "$bad" ] || { echo "$bad" | head -n 20 | sed 's/^/# drift: /'; wrong=1; }
	[ $wrong = 1 ] || [ -z "$early" ] || return 2
	return $wrong
}

# watch_work PID NAME: audits as soon as there is a process, and from time to time until this one ends; its exit status.
watch_work() {
	local wrong=0 next=0 pause=0.05 before=$audits
	stacks_read=0
	while kill -0 "$1" 2>/dev/null; do
		if [ $SECONDS -ge $next ]; then
			audit_work
			case $? in
			0) next=$((SECONDS + 5)) pause=0.3 ;;
			1) next=$((SECONDS + 5)) pause=0.3 wrong=1 ;;
			esac
		fi
		read -rt $pause <> <(:)
	done
	[ $wrong = 0 ] && [ $audits -gt "$before" ]
	ok $? "$2: while it runs every audit says drift 0, lost 0 ($((audits - before)) audits)"
	if [ -n "$stacks" ]; then
		[ $stacks_read -gt 0 ]
		ok $? "$2: what was beneath stacks was what tags had ($stacks_read times)"
	fi
	wait "$1"
}

# lifetimes: how many of the processes have ended.
lifetimes() { echo $(($(health ended) - ended_before)); }

# verdict LEAST: the work is over; at least so many processes' lives must have been checked. A process that missed an event
# is counted anew by its next reader, and may end before: at most $unread %.
unread=0
verdict() {
	local lifetimes unmended
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
	[ -z "$stacks" ] || is "$(health stack_lost)" "$unstacked_before" "no stack was lost"
	unmended=$(($(health dirty_ended) - unmended_before))
	[ $unmended -le $((lifetimes * unread / 100)) ]
	ok $? "at most $unread % of the processes ended before their counters were mended ($unmended)"
	[ "$audited" -gt 0 ]
	ok $? "processes were audited while they ran"
	if [ -e $thp/hugepages-64kB/stats/anon_fault_alloc ]; then
		[ $(($(small_folios) - folios_before)) -ge 1 ]
		ok $? "folios between a page and a huge page came by faults ($(($(small_folios) - folios_before)))"
	fi
	done_testing
}
