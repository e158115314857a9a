# SPDX-License-Identifier: GPL-2.0
# awk -F '\t' -f table.awk: prints rows that judge.awk has judged as a table, those of the same work together. The exit
# status is 1 if a budget is exceeded, or if there is no row.
function shown(field) { return field == "-" || field == "ok" ? "" : field }
{
	work = $1
	sub(/: [^:]*$/, "", work)
	if (!(work in lines))
		works[++count] = work
	exceeded += $4 == "OVER"
	lines[work] = lines[work] sprintf("%-68s %13s %10s %-4s %13s %-5s %s\n", $1, $2, shown($3), $4 == "-" ? "" : $4,
		shown($5), shown($6), shown($7))
}
END {
	printf "%-68s %13s %10s %-4s %13s\n", "instructions (differences to none)", "measured", "budget", "", "baseline"
	for (i = 1; i <= count; i++)
		printf "%s", lines[works[i]]
	exit exceeded > 0 || !count
}
