#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Files have under 500 lines, functions under 60: from the line of the opening brace, which in scripts
# is that of the name, to the line of the closing brace, both included.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The one exception. The ABI is a single header, as others of the kernel's are: programs include it by
# its name, and all that they may rely on stands in one place.
exempt=include/uapi/linux/mtag.h

# sources: the tracked files in C, C++, assembly and shell. Not every script has a name in .sh.
sources() {
	{
		git ls-files -- '*.[chS]' '*.cpp' '*.hpp' '*.sh' 'ctl/completion/*' 'tests/vm/kernels/*' | there
		git ls-files | there | xargs -d '\n' awk 'FNR == 1 && /^#!.*sh( |$)/ {print FILENAME} {nextfile}'
	} | sort -u
}
there() { while read -r f; do [ ! -f "$f" ] || echo "$f"; done; }

# long_files FILE…: those of them that have 500 lines or more.
long_files() { awk 'FNR == 500 {print FILENAME; nextfile}' "$@"; }

# long_functions FILE…: the functions in them that have 60 lines or more. In C, the braces of a function
# stand alone in the first column, or behind one tab if the function is in a class; blocks that look the
# same count, too. In shell, a function begins and ends in the first column. Here documents are skipped.
long_functions() {
	awk '
		function begin(depth) { begun[depth] = FNR }
		function end(depth) {
			if (depth in begun && FNR - begun[depth] >= 59)
				print FILENAME ":" begun[depth] ": " FNR - begun[depth] + 1 " lines"
			delete begun[depth]
		}
		FNR == 1 { split("", begun); document = ""; c = FILENAME ~ /\.([chS]|[ch]pp)$/ }
		c && /^\t?\{$/ && !(/^\{/ && last ~ /^(class|struct|namespace) /) { begin(index($0, "{")) }
		c && /^\t?\}/ { end(index($0, "}")) }
		c { last = $0; next }
		document { if ($0 ~ "^\t*" document "$") document = ""; next }
		match($0, /[^<]<<-?["\047\\]?[A-Z]+/) {
			document = substr($0, RSTART, RLENGTH)
			gsub(/[^A-Z]/, "", document)
		}
		/^[A-Za-z_][A-Za-z0-9_-]*\(\) [{(]( *#.*)?$/ { begin(1) }
		/^[})]/ { end(1) }
	' "$@"
}

mapfile -t files < <(sources)
is "$(printf '%s\n' "${files[@]}" | grep -cxF -e kmod/tree.c -e include/mtag.h -e kmod/compat/rest.S \
	-e tests/kernel/malloc_tag.cpp -e include/mtag.hpp -e tests/style/sizes.sh -e tests/run-all \
	-e tests/vm/kernels/7.2)" 8 "sources of each kind are looked at"
is "$(long_files "${files[@]}" | grep -vxF $exempt)" "" "no file has 500 lines or more"
is "$(long_functions "${files[@]}")" "" "no function has 60 lines or more"
is "$(long_files $exempt)" $exempt "the exception is one"

# Functions of 59 lines and of 60, and files of 499 and of 500.
lines() { yes $'\t;' | head -n "$1"; }
for n in 59 60; do
	{ printf 'int f(void)\n{\n'; lines $((n - 2)); echo '}'; } >"$tmp/$n.c"
	{ printf 'class c\n{\n\tvoid f()\n\t{\n'; lines $((n - 2)); printf '\t}\n};\n'; } >"$tmp/$n.hpp"
	{ printf 'f() { # FILE\n\tcat <<-END\n}\n\tEND\n'; lines $((n - 5)); echo '} 2>/dev/null'; } >"$tmp/$n.sh"
done
lines 499 >"$tmp/499.c"
lines 500 >"$tmp/500.c"
is "$(long_functions "$tmp"/*.*)" "$tmp/60.c:2: 60 lines
$tmp/60.hpp:4: 60 lines
$tmp/60.sh:1: 60 lines" "a planted function of 60 lines is noticed, in C, C++ and shell, and one of 59 is not"
is "$(long_files "$tmp"/*.*)" "$tmp/500.c" "a planted file of 500 lines is noticed, and one of 499 is not"
done_testing
