#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's own mm selftests, each without mtag and then with everything tracked: the verdicts are
# the same, audits meanwhile say drift 0, every process that ends has all counters at 0.
# vm: group=selftests timeout=300 needs=foreign only=6.1 because="the sources of one kernel are enough outside make check-long" args=short
# vm: group=selftests mem=4G append=secretmem.enable=1,numa=fake=2 timeout=7200 needs=foreign long=1 args=all
. tests/kernel/lib.sh
series=$(uname -r | grep -oE '^[0-9]+\.[0-9]+')
suite=$(. /run/vm/conf && echo "$cache/foreign/$series")
[ -d "$suite/mm" ] || bail "no $suite/mm: run tests/lib/foreign $series on the host"
form=${1:-short} pattern=${2:-} limit=${3:-$(more 60 600)}
tmp=$(mktemp -d)
chmod 755 "$tmp"
cp -r "$suite/mm" "$tmp/mm"
# Quick ones.
short='^(map_fixed_noreplace|madv_populate|mlock2-tests|mremap_test|mremap_dontunmap|map_populate|hugepage-mremap.*'
short+='|ksm_tests -M.*)$'
mkdir "$tmp/without" "$tmp/with"
mkfifo "$tmp/output"

# finish: what a pass, which is a shell of its own, has to say.
finish() { echo "$programs $tap_run $tap_failed $checked" >"$tmp/state"; }

# program DIR COMMAND…: runs it in its own session, so that processes that it leaves can be found. Its output goes
# to DIR/said, its verdict into a new file in DIR/verdicts. A program may go on in a child, as protection_keys
# does: its output is read for a minute, or until no process has it open.
program() {
	local dir=$1 session status reader
	shift
	mkdir -p "$dir/verdicts"
	cat "$tmp/output" >"$dir/said" &
	reader=$!
	setsid timeout --foreground -k 5 "$limit" "$@" >"$tmp/output" 2>&1 </dev/null &
	session=$!
	wait $session
	status=$?
	[[ $status = @(124|137) ]] || until_true 60 eval "! kill -0 $reader 2>/dev/null"
	until_true 20 eval "! pkill -KILL -s $session"
	# A process that left the session may hold it open.
	until_true 5 eval "! kill -0 $reader 2>/dev/null" || kill $reader
	wait $reader
	# Some have a limit of their own.
	! grep -qa 'time limit exceeded' "$dir/said" || status=124
	verdict $status <"$dir/said" >"$(mktemp "$dir/verdicts/XXXXXX")"
}

# verdict STATUS: what of a program's output is a verdict, without what differs from run to run.
verdict() {
	case $1 in
	0) echo pass ;;
	4) echo skip ;;
	# What it got done by then is chance, and how fast it is.
	124 | 137) echo "time limit"; return ;;
	*) echo "fail $1" ;;
	esac
	grep -aE '^ *(not ok|ok|Bail out!) |\.\.\. *(done|ok|OK|failed|FAIL|skip)|\[(PASS|FAIL|OK|SKIP)\]|^(PASS|FAIL|SKIP)' |
		sed -E 's/0x[0-9a-f]+/N/g; s/[0-9]+(\.[0-9]+)?/N/g'
}

# audits: until killed, of all processes while they run.
audits() {
	while :; do
		mtagctl -j audit 2>/dev/null | jq -c '.[] | select(.drift_pages != 0 or .lost != 0)' >>"$tmp/wrong"
		read -rt 3 <> <(:)
	done
}

# bad: the counters of health that stay 0.
bad() { grep -E '^(drift|lost|overflow|dirty_ended) ' $debug/health; }

# watched DIR COMMAND…: program, with everything tracked. What mtag itself did wrong is in $tmp/wrong, the
# processes that ended meanwhile are $lived.
watched() {
	local auditor before
	before=$(health ended)
	bad >"$tmp/bad"
	: >"$tmp/wrong"
	audits &
	auditor=$!
	program "$@"
	kill $auditor
	wait $auditor 2>/dev/null
	mtagctl -j audit >"$tmp/audit" || echo "audit: status $?" >>"$tmp/wrong"
	jq -c '.[] | select(.drift_pages != 0 or .lost != 0)' "$tmp/audit" >>"$tmp/wrong"
	[ "$(jq length "$tmp/audit")" -gt 0 ] || echo "nothing to audit" >>"$tmp/wrong"
	bad | diff "$tmp/bad" - | grep '^>' >>"$tmp/wrong"
	lived=$(($(health ended) - before))
}

# agree DIR: a verdict with mtag is one without. Of the last two $tmp/diff says what differs.
agree() {
	local with without
	for with in "$tmp/with/$1"/verdicts/*; do
		for without in "$tmp/without/$1"/verdicts/*; do
			! diff "$without" "$with" >"$tmp/diff" || return 0
		done
	done
	return 1
}

# again DIR COMMAND…: they differ. Some programs go by the clock, of which the emulator has its own idea:
# a difference is one if it stays, so both ways are tried twice more.
again() {
	local dir=$1 try
	shift
	for try in 1 2; do
		sed "s/^/# $dir, once: /" "$tmp/diff"
		watched "$tmp/with/$dir" "$@"
		[ ! -s "$tmp/wrong" ] && ! agree "$dir" || return
	done
	count_ended
	unload
	for try in 1 2; do
		program "$tmp/without/$dir" "$@"
		! agree "$dir" || break
	done
	load track=all
}

# compare DIR NAME COMMAND…
compare() {
	local dir=$1 name="$2: the same with and without mtag"
	shift 2
	# That says nothing of it, but a failure with mtag is one that wants to be looked at.
	if grep -q '^time limit' "$tmp/without/$dir"/verdicts/* && ! grep -q '^fail' "$tmp/with/$dir"/verdicts/*; then
		skip "$name: not within its time limit, of $limit s or its own, without it"
		return
	fi
	[ -s "$tmp/wrong" ] || agree "$dir" || again "$dir" "$@"
	agree "$dir"
	ok $? "$name ($(head -qn 1 "$tmp/with/$dir"/verdicts/* | tail -n 1))" || {
		sed 's/^/#   /' "$tmp/diff"
		tail -n 15 "$tmp/without/$dir/said" | sed 's/^/#   without: /'
		tail -n 15 "$tmp/with/$dir/said" | sed 's/^/#   with: /'
	}
}

count_ended() { checked=$((checked + $(health ended))); }

# run_test COMMAND…: what the kernel's run_vmtests.sh runs its programs by.
run_test() {
	local name="$*" dir began=$SECONDS
	[ "$1" != sudo ] || set -- setpriv --reuid=65534 --regid=65534 --clear-groups "${@:4}"
	name=${name#sudo -u nobody } name=${name#bash } name=${name#sh -c } name=${name#./}
	[ "$form" = all ] || [ -n "$pattern" ] || [[ $name =~ $short ]] || return 0
	[[ $name =~ $pattern ]] || return 0
	programs=$((programs + 1))
	dir=$(tr -c '[:alnum:]\n' _ <<<"$programs $name")
	if [ $pass = without ]; then
		program "$tmp/without/$dir" "$@"
		echo "# $name: $(head -qn 1 "$tmp/without/$dir"/verdicts/*) without mtag, $((SECONDS - began)) s"
		grep -q '^pass' "$tmp/without/$dir"/verdicts/* ||
			tail -n 3 "$tmp/without/$dir/said" | tr -d '\r' | sed 's/^/#   /'
		return 0
	fi
	watched "$tmp/with/$dir" "$@"
	compare "$dir" "$name" "$@"
	[ ! -s "$tmp/wrong" ]
	ok $? "$name: drift 0, lost 0 ($lived processes ended)" || sed 's/^/#   /' "$tmp/wrong"
} >&3

# Those that run_vmtests.sh of this series leaves to others.
others() {
	case $series in
	6.1)
		run_test ./khugepaged
		run_test ./khugepaged all:shmem
		run_test ./khugepaged all:file "$SPLIT_HUGE_PAGE_TEST_XFS_PATH"
		run_test ./split_huge_page_test
		run_test ./migration
		# It ends by a signal only.
		run_test timeout "$(more 2 20)" ./transhuge-stress 100
		run_test ./charge_reserved_hugetlb.sh -cgroup-v2
		run_test ./hugetlb_reparenting_test.sh -cgroup-v2
		;;
	*)
		run_test ./mseal_test
		run_test ./pkey_sighandler_tests_64
		if [ "$series" = 6.12 ]; then
			run_test ./seal_elf
			run_test ./droppable
		else
			run_test ./prctl_thp_disable
		fi
		;;
	esac
}

[ ! -d /sys/module/mtag ] || unload || bail "the module cannot be unloaded at first"
ulimit -c 0
# shellcheck disable=SC2154
(. /run/vm/conf && cat "$kernel"/{boot/config-*,lib/modules/*/config} >"/boot/config-$(uname -r)" 2>/dev/null)
if [ "$form" = all ]; then
	swap_on_zram 512M || bail "no swap on zram"
	modprobe -q -a loop xfs hwpoison_inject
	gzip -dc "$suite/xfs.gz" | cp --sparse=always /dev/stdin "$tmp/xfs"
	mkdir "$tmp/xfs.d"
	if mount -t xfs -o loop "$tmp/xfs" "$tmp/xfs.d"; then
		export SPLIT_HUGE_PAGE_TEST_XFS_PATH=$tmp/xfs.d
	else
		dmesg | tail -n 3 | sed 's/^/# no XFS: /'
	fi
fi
# Its list and what it prepares for each program, with another run_test.
sed '/^run_test() {/,/^}/d' "$tmp/mm/run_vmtests.sh" >"$tmp/run_vmtests"
checked=0
# run_all without|with
run_all() {
	pass=$1
	(
		programs=0
		trap finish EXIT
		cd "$tmp/mm" || exit
		sudo() { [ "$1" != -u ] || shift 2; "$@"; }
		others 3>&1
		set -- -d
		# shellcheck disable=SC1091
		. "$tmp/run_vmtests" 3>&1 >"$tmp/said" 2>&1
	)
	read -r programs tap_run tap_failed checked <"$tmp/state"
}
run_all without
load track=all || bail "the module does not load"
run_all with
echo "# $(tr '\n' ' ' <$debug/health)"
count_ended
unload
ok $? "the module can be unloaded"
[ "$programs" -ge "$([ "$form" = all ] && echo 40 || echo 8)" ] || [ -n "$pattern" ]
ok $? "the kernel's list was run ($programs programs)" || tail -n 5 "$tmp/said" | sed 's/^/# /'
echo "# counts: programs=$programs lifetimes=$checked"
done_testing
