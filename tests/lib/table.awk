# SPDX-License-Identifier: GPL-2.0
# awk -F '\t' -v kernels='6.1 …' -f table.awk ONLY RESULTS prints the kernel tests as a table, a row a
# test file, a column a kernel, in 80 columns where they fit. A line of RESULTS is "passed failed skipped
# seconds kernel file …"; one of ONLY is "file kernel reason": part of that file does not run on that kernel.
# "ok N+M": M more checks were skipped. Files of which nothing concerns these kernels are left out.
BEGIN {
	count = split(kernels, kernel, " ")
	for (i = 1; i <= count; i++)
		asked[kernel[i]]
}
FILENAME == ARGV[1] {
	if (!($2 in asked))
		next
	if (!($3 in mark)) {
		mark[$3] = ++marks
		reason[marks] = $3
	}
	if (!index(left_out[$1, $2], "[" mark[$3] "]"))
		left_out[$1, $2] = left_out[$1, $2] " [" mark[$3] "]"
	seen($1)
	next
}
$5 in asked {
	passed[$6, $5] += $1
	failed[$6, $5] += $2
	skipped[$6, $5] += $3
	seen($6)
}

function seen(file) {
	if (!(file in known)) {
		known[file]
		files[++rows] = file
	}
}
function cell(file, k,    text) {
	if (failed[file, k])
		text = "FAIL " failed[file, k]
	else if (passed[file, k])
		text = "ok " passed[file, k] (skipped[file, k] ? "+" skipped[file, k] : "")
	else if (skipped[file, k])
		text = "skipped"
	else
		text = left_out[file, k] ? "n/a" : "-"
	return text left_out[file, k]
}
function sort(    i, j, file) {
	for (i = 2; i <= rows; i++) {
		file = files[i]
		for (j = i; j > 1 && files[j - 1] > file; j--)
			files[j] = files[j - 1]
		files[j] = file
	}
}
function line(name, values,    i, text) {
	text = sprintf("%-23.23s", name)
	for (i = 1; i <= count; i++)
		text = text sprintf(" %-" width "s", values[i])
	sub(/ +$/, "", text)
	print text
}
# In lines of at most 80 columns.
function fold(label, text,    n, words, i, out) {
	n = split(text, words, " ")
	out = label
	for (i = 1; i <= n; i++) {
		if (length(out) + 1 + length(words[i]) > 80) {
			print out
			out = "   "
		}
		out = out " " words[i]
	}
	print out
}
END {
	if (!rows)
		exit
	width = int((80 - 23) / count) - 1
	if (width > 13)
		width = 13
	# As many kernels as --long takes do not fit into 80.
	if (width < 10)
		width = 10
	for (i = 1; i <= count; i++)
		if (length(kernel[i]) > width)
			width = length(kernel[i])
	sort()
	print ""
	line("", kernel)
	for (row = 1; row <= rows; row++) {
		for (i = 1; i <= count; i++)
			values[i] = cell(files[row], kernel[i])
		line(files[row], values)
	}
	for (i = 1; i <= marks; i++)
		fold("[" i "]", reason[i])
	print ""
}
