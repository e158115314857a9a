# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by tests/run-all: runs the tests that need no VM, or start their own.

# runs_32: does this kernel run programs of 32 bits? Some are built without.
runs_32() { ! (exec build/m32/tests/abi/layout) 2>&1 >/dev/null | grep -q 'Exec format error'; }

# host_tests: their files.
host_tests() {
	local test
	for test in build/{,m32/,static/,musl/}tests/{unit,abi}/* tests/{unit,abi,style}/*.sh tests/vm/selftest.sh \
			tests/vm/{planted,unfit,callers,compare}.sh tests/pkg/t_*.sh; do
		[ ! -f "$test" ] || [ ! -x "$test" ] || ! matches "$test" || echo "$test"
	done
}

run_host() {
	local test status start limit aside keep no_32=''
	runs_32 || no_32=1
	for test in $(host_tests); do
		if [[ -n $no_32 && $test == build/m32/* ]]; then
			tell "SKIP $test (this machine's kernel runs no programs of 32 bits; t_compat32 or t_nomodule runs it in a VM)"
			record "$(result 0 0 1)"
			continue
		fi
		# These look at all sources, and take no hours.
		keep=''
		[ -z "$kept" ] || [[ $test == tests/style/* ]] || keep=$(kept_file "$test")
		! take_kept "$test" "$keep" || continue
		start=$SECONDS limit=1800
		# The long forms, and those that build and install in VMs.
		[[ -z $long && $test != tests/pkg/* ]] || limit=14400
		aside=0
		[ ! -e "$tmp/aside" ] || aside=10
		echo "$test" >"$tmp/host.current"
		show_progress
		MTAG_LONG=$long MTAG_VM_THREAD=single nice -n $aside timeout -k 10 $limit "$test" >"$tmp/host.out" 2>&1 </dev/null
		status=$?
		rm -f "$tmp/host.keep"
		judge "$test" "$tmp/host" "$status" $((SECONDS - start))
		[ -z "$keep" ] || [ ! -f "$tmp/host.keep" ] || mv "$tmp/host.keep" "$keep"
	done
	rm -f "$tmp/host.current"
}
