# SPDX-License-Identifier: GPL-2.0
# awk -f counts.awk FILE… prints what tests counted as a table, a row a name, a column a kernel, and as many tables as it
# takes for each to fit into 80 columns. A line
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
	for (first = 1; first <= columns; first = next_first)
		some(first)
}

# some(FIRST): a table of as many columns as fit into 80, the first of which is FIRST. Sets next_first to what comes after.
function some(first,    width, text, r, c, any) {
	text = sprintf("\n%-12s %11s", "counted", "total")
	width = 24
	for (c = first; c <= columns; c++) {
		wide[c] = length(kernel[c]) > 10 ? length(kernel[c]) : 10
		width += 1 + wide[c]
		if (width > 80 && c > first)
			break
		text = text sprintf(" %" wide[c] "s", kernel[c])
	}
	next_first = c
	print text
	for (r = 1; r <= rows; r++) {
		text = sprintf("%-12s %11d", name[r], total[name[r]])
		any = 0
		for (c = first; c < next_first; c++) {
			any += (name[r], kernel[c]) in sum
			text = text sprintf(" %" wide[c] "s", (name[r], kernel[c]) in sum ? sum[name[r], kernel[c]] : "-")
		}
		if (any)
			print text
	}
}
