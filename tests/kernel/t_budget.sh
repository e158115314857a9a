#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What mtag costs stays within its budget, in instructions (and bytes), and does not grow: bench/baseline/ has what was
# measured before. The budgets are for 6.1.
# vm: also=7.3 only=6.1,7.3 stock=1 because="what a fault costs differs little between kernels, and counting it takes long; sanitizers cost more" icount=1 group=budget module=linger_ms=2000,count_down=0 timeout=900
. tests/kernel/lib.sh

kernel=$(uname -r | cut -d. -f1,2)
baseline=bench/baseline/$kernel.tsv
[ -f "$baseline" ] || bail "no $baseline: make bench BASELINE=1 makes it"
# The rows over their budget: "Rows over budget" in docs/performance.md says where their instructions go.
over='malloc and free, heap view: exact|first touch, 2 MiB: t|(map|unmap), a shared page, 1,000 ranges: t|fork, exec and end of .bin.true: t'
rows=$(mktemp)
# measure: each row is the least of what was measured of it, here and before.
measure() {
	local numbers
	numbers=$(bench/pages.sh 2 2>&1) || bail "$numbers"
	awk -F '\t' -v OFS='\t' 'NF < 3 { next }
		!($1 in row) { name[++n] = $1; least[$1] = $2; row[$1] = $0; next }
		$2 + 0 < least[$1] + 0 { least[$1] = $2; row[$1] = $0 }
		END { for (i = 1; i <= n; i++) print row[name[i]] }' "$rows" <(echo "$numbers") >"$rows.new"
	mv "$rows.new" "$rows"
}
# judged: the rows, judged
judged() { awk -F '\t' -f bench/judge.awk "$baseline" "$rows"; }
# bad: those that are not as they must be. The budgets are for 6.1.
bad() {
	judged | awk -F '\t' -v t="^($over)" -v k="$kernel" \
		'$6 == "GROWN" || (k == 6.1 && $4 != "-" && ($4 == "OVER") != ($1 ~ t))'
}
# What disturbs only adds; so what seems to cost too much is measured again. So is what seems to cost too little: then it
# is the work without mtag that was disturbed.
for _ in {1..6}; do
	measure
	[ -n "$(bad)" ] || break
	bad | sed 's/^/# /'
done
while IFS=$'\t' read -r what measured budget within kept growth _; do
	if [ "$kernel" = 6.1 ] && [ "$budget" != - ]; then
		if [[ $what =~ ^($over) ]]; then
			[ "$within" = OVER ]
			ok $? "$what: $measured, over $budget as docs/performance.md says"
		else
			[ "$within" = ok ]
			ok $? "$what: $measured, at most $budget"
		fi
	fi
	name="$what: $measured, no more than before: $kept"
	if [ "$growth" = NEW ]; then
		skip "$name"
	elif [ "$growth" != - ]; then
		[ "$growth" = ok ]
		ok $? "$name"
	fi
done < <(judged)
[ -z "$(bad)" ] || bench/run --table "$rows" "$kernel" | sed 's/^/# /'
is "$(health drift)" 0 "no drift"
done_testing
