#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The manual pages of mtagctl: each option that `mtagctl help COMMAND` lists, short and long, has an item in the page
# of that command, and each page renders within 80 columns without a warning.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
command -v groff >/dev/null || { echo "1..0 # SKIP no groff"; exit; }
ctl=build/bin/mtagctl
export LC_ALL=C.UTF-8
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
pages=docs/man

# page COMMAND: the file that describes it. A line ".so man8/NAME" stands for another.
page() {
	local file=$pages/mtagctl-$1.8 other
	[ -e "$file" ] || file=$pages/mtagctl.8
	other=$(sed -n 's|^\.so man8/||p' "$file")
	echo "${other:+$pages/}${other:-$file}"
}

# listed [COMMAND]: the options in its help, each on a line: "  -x, --name" or "  --name".
listed() {
	"$ctl" help "$@" | sed -nE 's/^  (-[a-zA-Z]), (--[a-z-]+).*/\1\n\2/p; s/^  (--[a-z-]+).*/\1/p' | sort -u
}

# items FILE: the options that have an item there: ".It Fl x , -name Ar value".
items() {
	awk '/^\.It / {
		flag = 0
		for (i = 2; i <= NF; i++)
			if ($i == "Fl") flag = 1
			else if ($i ~ /^[A-Z][a-z]$/) flag = 0
			else if (flag && $i != ",") print "-" $i
	}' "$1" | sort -u
}

# missing COMMAND: what its page lacks. Those of all commands may be described in mtagctl(8) alone.
missing() {
	comm -23 <(listed "$1") <({ items "$(page "$1")"; comm -12 <(listed) <(items "$pages/mtagctl.8"); } | sort -u)
}

render() { groff -ww -man -Tutf8 -rLL=80n -P-cbou "$1"; }

# faults FILE: warnings, and lines of more than 80 columns.
faults() {
	{ render "$1" >"$tmp/text"; } 2>&1
	grep -E '.{81}' "$tmp/text"
}

mapfile -t commands < <("$ctl" help | sed -nE '/^Options/q; s/^  ([a-z]+) .*/\1/p')
[ ${#commands[@]} -ge 10 ]
ok $? "mtagctl help lists commands"
for command in "${commands[@]}"; do
	is "$(missing "$command" | xargs)" '' "the page of $command has each of its options"
	grep -q "^\.It Cm $command\>" $pages/mtagctl.8
	ok $? "mtagctl(8) lists $command"
	! [ -e "$pages/mtagctl-$command.8" ] || grep -q "^\.Nm mtagctl-$command\>" "$(page "$command")"
	ok $? "the page that stands for $command names it"
done
for file in "$pages"/*.[1-9]; do
	grep -q '^\.so ' "$file" || is "$(faults "$file")" '' "${file##*/} renders as it should"
done

# Does this test notice what it looks for?
mkdir "$tmp/man"
sed '/^\.It Fl t , -timeout/d' $pages/mtagctl-limit.8 >"$tmp/man/mtagctl-limit.8"
sed '/^\.It Fl j , -json/d' $pages/mtagctl.8 >"$tmp/man/mtagctl.8"
pages=$tmp/man
is "$(missing limit | xargs)" '--json --timeout -j -t' "options that have no item are missed"
printf '.TH x 8\n.SH NAME\n.nf\n%081d\n' 0 >"$tmp/wide"
[ -n "$(faults "$tmp/wide")" ]
ok $? "so is a line that is too wide"
printf '.TH x 8\n.SH NAME\n\\*[none]\n' >"$tmp/wrong"
[ -n "$(faults "$tmp/wrong")" ]
ok $? "so is a page that groff warns of"
done_testing
