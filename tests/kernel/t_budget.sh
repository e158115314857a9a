#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What mtag costs stays within its budget, in instructions (and bytes), and does not grow: bench/baseline/ has what was
# measured before. The budgets are for 6.1.
# vm: only=6.1,7.2 stock=1 because="what a fault costs differs little between kernels, and counting it takes long; sanitizers cost more" icount=1 group=budget module=linger_ms=2000,count_down=0 timeout=900
. tests/kernel/lib.sh

kernel=$(uname -r | cut -d. -f1,2)
baseline=bench/baseline/$kernel.tsv
[ -f "$baseline" ] || bail "no $baseline: make bench BASELINE=1 makes it"
numbers=$(bench/pages.sh "$(if [ "$kernel" = 6.1 ]; then echo 6; else echo 3; fi)" 2>&1)
ok $? "the benchmark runs" || bail "$numbers"

# What does not keep to its budget yet.
todo='first touch, 2 MiB: t|(map|unmap), a shared page, 1,000|fork, exec and end of .bin.true: t|read (a process with )?1,000 tags|bytes an account'
while IFS=$'\t' read -r what measured budget within kept growth _; do
	if [ "$kernel" = 6.1 ] && [ "$budget" != - ]; then
		name="$what: $measured, at most $budget"
		if [ "$within" != ok ] && [[ $what =~ ^($todo) ]]; then
			tap_run=$((tap_run + 1))
			echo "not ok $tap_run - $name # TODO"
		else
			[ "$within" = ok ]
			ok $? "$name" || bad=1
		fi
	fi
	name="$what: $measured, no more than before: $kept"
	if [ "$growth" = NEW ]; then
		skip "$name"
	else
		[ "$growth" = ok ]
		ok $? "$name" || bad=1
	fi
done < <(awk -F '\t' -f bench/judge.awk "$baseline" <(echo "$numbers"))
[ -z "${bad:-}" ] || bench/run --table <(echo "$numbers") "$kernel" | sed 's/^/# /'
is "$(health drift)" 0 "no drift"
done_testing
