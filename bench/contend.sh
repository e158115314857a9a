#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Contention for accounts: how often CPUs write what others write, too, per 1,000 pages that are touched and unmapped,
# with a thread on each CPU, under one tag and under one each. Time says little where CPUs are emulated; the number of
# calls that take an account's lock, by ftrace's profile of functions, is the same everywhere.
#   for n in 2 4 8; do tests/vm/run --fast --cpus $n -- bench/contend.sh; done
set -eu
tracing=/sys/kernel/tracing
[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing
functions='mtag_account_full mtag_stock_leave mtag_stock_add_record mtag_stock_touch_record mtag_stock_resident'

# calls FUNCTION: how often it was called since the profile began
calls() { cat $tracing/trace_stat/function* | awk -v f="$1" '$1 == f {n += $2} END {print n + 0}'; }

for way in one each; do
	echo 0 >$tracing/function_profile_enabled
	: >$tracing/set_ftrace_filter
	for f in $functions; do echo "$f" >>$tracing/set_ftrace_filter; done
	echo 1 >$tracing/function_profile_enabled
	pages=$(build/bench/contend $way)
	echo 0 >$tracing/function_profile_enabled
	printf '%d CPUs, %-4s:' "$(nproc)" "$way"
	for f in $functions; do
		awk -v f="$f" -v n="$(calls "$f")" -v p="$pages" 'BEGIN {printf " %s %.2f", f, 1000 * n / p}'
	done
	echo
done
