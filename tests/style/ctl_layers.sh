#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The files of ctl/, lib/ and lib/heap/ are layers: the Makefile lists them bottom-up, and each calls, and
# includes headers of, only those before it. Calls are what the objects' symbols say.
cd "$(dirname "$(realpath "$0")")/../.." || exit
command -v nm >/dev/null || { echo "1..0 # SKIP no nm"; exit; }
make -s tools >/dev/null 2>&1 || { echo "Bail out! user space does not build"; exit 1; }
n=0 failed=0
check() { # NAME, and on stdin what is wrong
	local wrong
	wrong=$(cat)
	n=$((n + 1))
	[ -z "$wrong" ] && { echo "ok $n - $1"; return; }
	echo "not ok $n - $1"
	sed 's/^/# /' <<<"$wrong"
	failed=1
}
shopt -s lastpipe # check counts in this shell

# listed VARIABLE: the files of a list of the Makefile, in its order.
listed() { make -s --no-print-directory -f <(printf 'include Makefile\nlisted:\n\t@printf "%%s\\n" $(%s)\n' "$1") listed; }

# symbols OBJECTS FILE…: a line a symbol: the file, its type, its name.
symbols() {
	local objects=$1 files
	shift
	files=("${@%.c}")
	files=("${files[@]/#/$objects/}")
	nm -A "${files[@]/%/.o}" | awk -v objects="$objects/" '{
		file = substr($1, length(objects) + 1)
		sub(/\.o:.*/, ".c", file)
		print file, $(NF - 1), $NF
	}'
}

# upward FILE…: of such lines on stdin, whose calls go to a file that comes later.
upward() {
	awk -v files="$*" '
		BEGIN { n = split(files, list, " "); for (i = 1; i <= n; i++) at[list[i]] = i }
		$2 == "U" { used[$1, $3]; next }
		$2 ~ /[A-TV-Z]/ { where[$3] = $1 }
		END {
			for (use in used) {
				split(use, part, SUBSEP)
				to = where[part[2]]
				if (to != "" && at[to] > at[part[1]])
					print part[1] " calls " part[2] "() of " to
			}
		}' | sort
}

# included_upward DIR FILE…: likewise of headers; one without a .c file is at the bottom.
included_upward() {
	local dir=$1
	shift
	git ls-files -z "$dir/*.[ch]" | xargs -0 grep -sH '^#include "' | sed 's/:#include "/ /; s/".*//' |
		awk -v dir="$dir" -v files="$*" '
			BEGIN { n = split(files, list, " "); for (i = 1; i <= n; i++) at[list[i]] = i }
			{
				from = $1; sub(/h$/, "c", from)
				to = dir "/" $2; sub(/h$/, "c", to)
				if (at[to] > at[from])
					print $1 " includes " $2
			}'
}

for dir in ctl lib lib/heap; do
	mapfile -t files < <(listed ${dir#lib/}_src)
	case $dir in
	ctl) objects=build/obj/ctl ;;
	lib) objects=build/obj/static ;;
	*) objects=build/obj/shared ;;
	esac
	comm -3 <(printf '%s\n' "${files[@]}" | sort) <(git ls-files "$dir/*.c" | if [ $dir = lib ]; then grep -v ^lib/heap/; else cat; fi | sort) |
		check "the Makefile lists the files of $dir/"
	symbols $objects "${files[@]}" | upward "${files[@]}" | check "no file of $dir/ calls one above it"
	included_upward $dir "${files[@]}" | check "none includes a header of one above it"
	# From the lowest to the highest: the check must see it.
	{
		symbols $objects "${files[@]}"
		echo "${files[0]} U planted"
		echo "${files[-1]} T planted"
	} | upward "${files[@]}" | grep -F 'planted()' | diff - <(echo "${files[0]} calls planted() of ${files[-1]}") |
		check "a call that goes up in $dir/ is noticed"
done
echo "1..$n"
exit $failed
