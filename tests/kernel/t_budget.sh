#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What mtag costs stays within its budget, in instructions (and bytes), and does not grow: bench/baseline/ has what was
# measured before. The budgets are for 6.1.
# vm: only=6.1,7.3 stock=1 because="what a fault costs differs little between kernels, and counting it takes long; sanitizers cost more" icount=1 group=budget module=linger_ms=2000,count_down=0 timeout=900
. tests/kernel/lib.sh

kernel=$(uname -r | cut -d. -f1,2)
baseline=bench/baseline/$kernel/pages.tsv
[ -f "$baseline" ] || bail "no $baseline: bench/run --baseline pages makes it"
# The rows over their budget: "Rows over budget" in docs/performance.md says where their instructions go.
over='malloc and free, heap view: exact|first touch, 2 MiB: t|(map|unmap), a shared page, 1,000 ranges: t|fork, exec and end of .bin.true: t'
rows=$(mktemp) all=()
# measure ROUNDS: each row is the least of what was measured of it, here and before.
measure() {
	local numbers
	numbers=$(bench/pages.sh "$1" 2>&1) || bail "$numbers"
	all+=("$(mktemp)")
	echo "$numbers" >"${all[-1]}"
	awk -F '\t' -f bench/least.awk "${all[@]}" >"$rows"
}
# judged: the rows, judged
judged() { awk -F '\t' -f bench/judge.awk "$baseline" "$rows"; }
# bad: those that are not as they must be. The budgets are for 6.1.
bad() {
	judged | awk -F '\t' -v t="^($over)" -v k="$kernel" \
		'$6 ~ /GROWN|NEW|LOST/ || (k == 6.1 && $4 != "-" && ($4 == "OVER") != ($1 ~ t))'
}
# What disturbs only adds; so what seems to cost too much is measured again. So is what seems to cost too little: then
# the work without mtag was disturbed. Another measurement does not mend a row that was renamed or is lost.
for rounds in 2 1 1 1 1 1; do
	measure $rounds
	bad=$(bad)
	[ -n "$bad" ] || break
	echo "# ${bad//$'\n'/$'\n'# }"
	! grep -q $'\t\(NEW\|LOST\)\t' <<<"$bad" || break
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
	case $growth in
	-) ;;
	NEW) ok 1 "$what: there is a baseline of it" ;;
	LOST) ok 1 "$what: $kept before, is still measured" ;;
	*)
		[ "$growth" = ok ]
		ok $? "$what: $measured, no more than before: $kept"
		;;
	esac
done < <(judged)
[ -z "$(bad)" ] || bench/run --table "$rows" "$kernel" | sed 's/^/# /'
is "$(health drift)" 0 "no drift"
done_testing
