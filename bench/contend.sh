#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Contention for accounts: how often CPUs write what others write, too, per 1,000 pages that are touched and unmapped,
# with a thread on each CPU, under one tag and under one each. Time says little where CPUs are emulated; the number of
# calls that take an account's lock, as probes of these functions count them, is the same everywhere.
# Prints rows for bench/run, of which this is part of the step cpus.
set -eu
tracing=/sys/kernel/tracing
[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing
functions='mtag_account_full mtag_stock_leave mtag_stock_add_record mtag_stock_touch_record mtag_stock_resident'

for way in one each; do
	for f in $functions; do echo "p:contend/$f $f"; done >$tracing/kprobe_events
	echo 1 >$tracing/events/contend/enable
	pages=$(build/bench/contend $way)
	echo 0 >$tracing/events/contend/enable
	case $way in one) tags='one tag' ;; each) tags='a tag each' ;; esac
	awk -v OFS='\t' -v name="locks of accounts per 1,000 pages: $(nproc) threads, $tags" -v pages="$pages" \
		'{ calls += $2 } END { print name, sprintf("%.1f", 1000 * calls / pages), "" }' $tracing/kprobe_profile
	: >$tracing/kprobe_events
done
