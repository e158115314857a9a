#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The exports of `mtagctl stacks`, of stacks that tests/unit/ctl_stacks.c made up, read back by the tools that they
# are for: go tool pprof, the schema of speedscope, xmllint. Each has all bytes of each stack that JSON has.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
maker=$PWD/build/tests/unit/ctl_stacks
read_back=$PWD/tests/unit/ctl_stacks.py
speedscope=$PWD/tests/lib/speedscope
export LC_ALL=C.UTF-8
[ -x "$maker" ] || bail "no $maker; make units builds it"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$read_back" "$@"; }
schema=$("$speedscope" 2>err)
ok $? "speedscope's schema is there" || sed 's/^/# /' err

for how in tags combined; do
	mkdir $how
	case $how in combined) "$maker" $how $how ;; *) "$maker" $how ;; esac >out || bail 'nothing is made'
	[ -s $how/json ] || { skip "stacks of $how ($(cat out))"; continue; }
	check "$how: folded lines have the bytes of each stack" python folded $how/json $how/folded
	[ -z "$schema" ] || check "$how: speedscope's schema allows what is made, and its bytes are there" \
		python speedscope $how/json $how/speedscope "$schema"
	go tool pprof -symbolize=none -raw $how/pprof >raw 2>err && [ ! -s err ]
	ok $? "$how: go tool pprof reads the profile"
	check "$how: with the bytes of each stack, and its tag" python pprof $how/json raw
	go tool pprof -top -cum -unit B $how/pprof 2>/dev/null | grep -q ' foo::example_function$'
	ok $? "$how: and knows the functions"
	go tool pprof -top -cum -lines $how/pprof 2>/dev/null | grep -q ' pool::grow /.*/pool\.c:11$'
	ok $? "$how: their files and lines"
	stripped=$(jq -r '[.[].stack[] | select(.address) | .module] | unique[]' $how/json)
	mkdir "${stripped%/*}" && cp $how/symbols.so "$stripped"
	is "$(go tool pprof -raw $how/pprof 2>err | grep -c ' legacy /.*/pool\.c:2[0-9] s=0$')$(cat err)" 1 \
		"$how: a place in a file that was stripped gets its function from the file with symbols"
	rm -r "${stripped%/*}"
	seq -f 'line %.0f' 40 >pool.c
	source=$(grep -om1 '"file":"[^"]*' $how/json | head -1 | cut -d'"' -f4)
	go tool pprof -trim_path "${source%/*}" -source_path "$tmp" -list '^foo::example_function$' $how/pprof 2>/dev/null | grep -q ' 16:line 16$'
	ok $? "$how: and can list the source with what each line touched"
	xmllint --noout $how/svg
	ok $? "$how: the icicle is XML"
	grep -q '<title>Anonymous memory by tag and stack</title>' $how/svg
	ok $? "$how: it says what it shows"
	grep -q '>main_loop</text>' $how/svg && grep -q '>touch</text>' $how/svg
	ok $? "$how: it has a box for each function"
	xmllint --html --noout $how/html 2>err
	! grep -v 'Tag [a-zA-Z]* invalid' err | grep -q ': parser error'
	ok $? "$how: the page is HTML"
	grep -q 'main_loop; foo::example_function; pool::grow; touch' $how/html
	ok $? "$how: its table has a row for each stack"
done
done_testing
