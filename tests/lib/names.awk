# SPDX-License-Identifier: GPL-2.0
# awk -f names.awk FILE…: for each test among the files of tests/kernel, t_NAME, a line: its name, and the files
# that it is made of: its own; those that it names, as headers, scripts and programs; and so on. A header of
# tests/kernel/lib stands for its source, too. A header that mentions a test does not make that test a part of all.
# Beside tests/kernel: pages of docs/, parts of tests/lib/, and where it runs programs of tests/unit/ or tests/abi/, which
# are made of several files, all of those, as a pattern of the shell's.
FNR == 1 {
	file = FILENAME
	path = file
	sub(/^tests\/kernel\//, "", path)
	name = path
	# What is in another directory is a program of its name, and a program is called without what follows the dot.
	if (!sub(/^lib\//, "", name))
		sub(path ~ /\// ? "/.*" : "\\.c(pp)?$", "", name)
	else
		sub(/\.c$/, ".h", name)
	if (path ~ /^t_/)
		sub(/\.sh$/, "", name)
	files[name] = files[name] " " file
}
{
	n = split($0, words, /[^A-Za-z0-9_.]+/)
	for (i = 1; i <= n; i++) {
		sub(/\.+$/, "", words[i])
		sub(/^t_[a-z0-9_]+\.(c|sh)$/, substr(words[i], 1, index(words[i], ".") - 1), words[i])
		if (words[i] !~ /^t_/ || path ~ /^t_/)
			has[name, words[i]]
	}
}
!/^[ \t]*(#|\/\/|\/?\*)/ {
	line = $0
	while (match(line, /docs\/[a-z]+\.md|tests\/lib\/[a-z]+\.sh|(unit|abi)\//)) {
		beside = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (beside ~ /\/$/)
			beside = "tests/" beside "*.*"
		files[beside] = " " beside
		has[name, beside]
	}
}
function collect(name, each) {
	taken[name]
	list = list files[name]
	for (each in files)
		if (!(each in taken) && (name, each) in has)
			collect(each)
}
END {
	for (test in files) {
		if (test !~ /^t_/)
			continue
		split("", taken)
		list = ""
		collect(test)
		print test list
	}
}
