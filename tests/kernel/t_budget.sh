#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What mtag costs stays within its budget, in instructions (and bytes).
# vm: only=6.1 stock=1 because="what a fault costs differs little between kernels, and counting it takes long; sanitizers cost more" icount=1 group=budget module=linger_ms=2000,count_down=0 timeout=900
. tests/kernel/lib.sh

swap_on_zram 64M || bail "no swap on zram"
numbers=$(build/bench/cost 6 2>&1 && mtagctl run -- build/bench/stacks 2>&1)
ok $? "the benchmark runs" || bail "$numbers"

# What does not keep to its budget yet.
todo='first touch, 2 MiB: t|read (a process with )?1,000 tags|bytes an account'
# Half an instruction a page is what the call that unmaps 256 of them costs by itself.
while IFS=$'\t' read -r what measured budget; do
	[ -n "$budget" ] || continue
	awk -v m="$measured" -v b="$budget" 'BEGIN { exit !(m <= b + 0.5) }'
	within=$?
	name="$what: $measured, at most $budget"
	if [ $within != 0 ] && [[ $what =~ ^($todo) ]]; then
		tap_run=$((tap_run + 1))
		echo "not ok $tap_run - $name # TODO"
	else
		ok $within "$name" || bad=1
	fi
done <<<"$numbers"
[ -z "${bad:-}" ] || bench/run --table <<<"$numbers" | sed 's/^/# /'
is "$(health drift)" 0 "no drift"
done_testing
