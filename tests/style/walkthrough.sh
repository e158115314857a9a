#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# docs/walkthrough.md: every `file:function()` that it names is defined in that file.
cd "$(dirname "$(realpath "$0")")/../.." || exit
page=docs/walkthrough.md
mapfile -t named < <(grep -oE '[[:alnum:]_./-]+\.[chS]:[[:alnum:]_]+' "$page" | sort -u)

# At the beginning of a line, or behind its type or a macro such as MTAG_HOOK_FUNC(; the body follows, no semicolon.
defined() { # FILE FUNCTION
	[ -f "$1" ] && awk -v name="$2" '
		!inside && /^[A-Za-z_]/ && $0 ~ "(^|[ *(])" name "[(),]" { inside = 1 }
		/^SYM_START/ && inside || inside && /\{/ { found = 1; exit }
		inside && /;/ { inside = 0 }
		END { exit !found }' "$1"
}

echo 1..2
failed=0 wrong=''
for f in "${named[@]}"; do
	defined "${f%%:*}" "${f#*:}" || wrong+="# $f"$'\n'
done
if [ -z "$wrong" ]; then
	echo "ok 1 - every function of the walk through the source is where it says"
else
	echo "not ok 1 - every function of the walk through the source is where it says"
	printf %s "$wrong"
	failed=1
fi
# Or the pattern above no longer fits the page, and nothing was checked.
if [ ${#named[@]} -ge 20 ]; then
	echo "ok 2 - the page names functions"
else
	echo "not ok 2 - the page names functions"
	failed=1
fi
exit $failed
