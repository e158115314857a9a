# SPDX-License-Identifier: GPL-2.0
# awk -F '\t' -f least.awk ROWS…: the rows of several measurements of the same as those of one, of the least that each
# work took. What disturbs a measurement only adds. So a difference is taken between the least of both, as bench/cost.c
# does within a measurement: a difference itself is also small where the work without mtag was disturbed.
function base(name, work) {
	work = name
	sub(/: [^:]*$/, "", work)
	return work ": none"
}
function least(name, value) {
	if (!(name in total))
		names[++count] = name
	if (!(name in total) || value + 0 < total[name] + 0)
		total[name] = value
}
# A budget that is a part of the work without mtag is less where that is less.
function note(name, budget) {
	if (!(name in budgets) || budget + 0 < budgets[name] + 0)
		budgets[name] = budget
}
FNR == 1 { delete none }
NF < 3 { next }
$1 ~ /: none$/ { none[$1] = $2 }
{
	what = base($1)
	is_part[$1] = what != $1 && what in none && $1 !~ /percent$/
	least($1, is_part[$1] ? none[what] + $2 : $2)
	note($1, $3)
}
END {
	for (i = 1; i <= count; i++) {
		name = names[i]
		value = total[name]
		print name "\t" (is_part[name] ? sprintf("%+.1f", value - total[base(name)]) : value) "\t" budgets[name]
	}
}
