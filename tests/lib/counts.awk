# SPDX-License-Identifier: GPL-2.0
# awk -f counts.awk FILE… prints what tests counted as a table, a row a name, a column a kernel. A line
# is "kernel # counts: name=N …", the kernel "host" for what ran in no VM.
{
	if (!($1 in column)) {
		column[$1] = ++columns
		kernel[columns] = $1
	}
	for (i = 4; i <= NF; i++) {
		if (split($i, pair, "=") != 2 || pair[2] !~ /^[0-9]+$/)
			continue
		if (!(pair[1] in row)) {
			row[pair[1]] = ++rows
			name[rows] = pair[1]
		}
		sum[pair[1], $1] += pair[2]
		total[pair[1]] += pair[2]
	}
}
END {
	if (!rows)
		exit
	text = sprintf("\n%-12s %11s", "counted", "total")
	for (c = 1; c <= columns; c++)
		text = text sprintf(" %10s", kernel[c])
	print text
	for (r = 1; r <= rows; r++) {
		text = sprintf("%-12s %11d", name[r], total[name[r]])
		for (c = 1; c <= columns; c++)
			text = text sprintf(" %10s", (name[r], kernel[c]) in sum ? sum[name[r], kernel[c]] : "-")
		print text
	}
}
