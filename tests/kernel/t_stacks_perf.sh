#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One program under perf record, which unwinds copies of its stack, and under mtagctl run --stacks: the chains of calls
# that first touch its memory are the same.
# vm: group=parallel mem=1G timeout=400 only=6.1,6.12 short=6.1 because="where newer kernels run there is no perf, and a program is walked by the same code on all"
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'kill -9 $program 2>/dev/null; rm -rf "$tmp"' EXIT
program=''

perf --version 2>/dev/null | grep -q '^perf version 6\.1' || { skip "the chains of perf (not installed)"; done_testing; }

flags=(-std=gnu11 -O2 -fomit-frame-pointer -g -Iinclude)
gcc "${flags[@]}" -fPIC -shared -DSHARED tests/kernel/stacks/chains.c -o "$tmp/libshared.so" &&
	gcc "${flags[@]}" tests/kernel/stacks/chains.c -o "$tmp/chains" "$tmp/libshared.so" -Wl,-rpath,"$tmp" -Lbuild/lib -lmtag
is $? 0 "the program is built" || done_testing

# Lines PAGES CHAIN: functions of the program and its library, and of all files the places, the innermost first, to main.
# The place of a call is taken to be the byte before the one that it returns to. Of other files no names: the one may
# have symbols that the other has not.
perf_chains() { # FIRST END
	perf script -i "$tmp/perf.data" --no-inline -F addr,ip,sym,dso 2>"$tmp/script.err" |
		awk -v first="$1" -v end="$2" '
			NF == 0 { began = 0; next }
			# All addresses have as many digits.
			!began { began = 1; inside = $1 >= first && $1 < end; chain = ""; next }
			inside { file = $NF; gsub(/[()]/, "", file); sub(/.*\//, "", file)
				chain = chain " " (file ~ /^(chains|libshared.so)$/ ? $2 : file) "+" $1 }
			inside && $2 == "main" { print chain; inside = 0 }' | sort | uniq -c | sed 's/^ *//; s/  */ /g' | sort -k 2
}

# A place is exact at the touch, and where a signal interrupted: the C library's return from the handler lies between.
mtag_chains() {
	jq -r '
		def hex: if . < 16 then "0123456789abcdef"[.:. + 1] else (. / 16 | floor | hex) + (. % 16 | hex) end;
		.[] | select(.tag == "region") | (.anon_bytes / 4096 | tostring) + " " + (
			[.stack | reverse | map(select(.inlined | not)) | . as $frames | to_entries[] | .key as $i | .value |
				((.module // "") | sub(".*/"; "")) as $file |
				(if $file == "chains" or $file == "libshared.so" then .function else $file end) + "+" +
				(if $i == 0 or ($i > 1 and $frames[$i - 2].function == "site_handler") then .offset
					else .offset - 1 end | hex)]
			| .[:(map(startswith("main+")) | index(true) // length) + 1] | join(" "))' "$tmp/stacks" | sort -k 2
}

perf record -q -m 4096 -e page-faults:u -c 1 -d --call-graph dwarf,16384 -o "$tmp/perf.data" "$tmp/chains" >"$tmp/perf.out" 2>"$tmp/perf.err"
is $? 0 "perf records" || { sed 's/^/# /' "$tmp/perf.err"; done_testing; }
read -r first end pages <"$tmp/perf.out"
perf_chains "$first" "$end" >"$tmp/perf.chains"
is "$(awk '{n += $1} END {print n}' "$tmp/perf.chains")" "$pages" "perf has seen each page" ||
	head -n 40 "$tmp/script.err" | sed 's/^/# /'

mtagctl run --stacks "$tmp/chains" wait >"$tmp/mtag.out" 2>&1 &
program=$!
until_true 60 grep -q . "$tmp/mtag.out"
ok $? "the program works under mtagctl run --stacks" || sed 's/^/# /' "$tmp/mtag.out"
read -r first end pages <"$tmp/mtag.out"
mtagctl stacks -j $program >"$tmp/stacks"
is $? 0 "its stacks are read"
mtag_chains >"$tmp/mtag.chains"
is "$(awk '{n += $1} END {print n}' "$tmp/mtag.chains")" "$pages" "mtagctl stacks has each page"

for who in perf mtag; do cut -d ' ' -f 2- "$tmp/$who.chains" | sort -u >"$tmp/$who.set"; done
[ "$(wc -l <"$tmp/perf.set")" -ge 40 ]
ok $? "perf has many chains ($(wc -l <"$tmp/perf.set"))"
check "both have the same chains of calls" diff "$tmp/perf.set" "$tmp/mtag.set"
check "and the same pages beneath each" diff "$tmp/perf.chains" "$tmp/mtag.chains"
kill -9 $program
wait $program 2>/dev/null
program=''
is "$(health stack_lost)" 0 "there was room for every stack"
done_testing
