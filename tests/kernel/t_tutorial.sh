#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# docs/tutorial.md, typed from top to bottom: each command works, and shows what the text says.
# vm: only=6.1 because="it is typed on Debian 12, whose libraries it names; each command has a test of its own" group=tutorial mem=2G timeout=300
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'pkill redis-server; rm -rf "$tmp"' EXIT
export PATH=$tmp/bin:$PWD/build/bin:$PATH COLUMNS=80 LC_ALL=C.UTF-8

# What libmtag-dev would install: the sources of the examples, and what pkg-config, cc and the program find. The guest's
# file system is thrown away.
installed=/usr/share/doc/libmtag-dev
[ -e $installed/examples ] || { mkdir -p $installed && ln -s "$PWD/examples" $installed/; }
mkdir "$tmp/bin"
flags="-I$PWD/include -L$PWD/build/lib -lmtag"
printf 'Name: libmtag\nDescription: memory tags\nVersion: 0\nLibs: %s\n' "$flags" >"$tmp/bin/libmtag.pc"
export PKG_CONFIG_PATH=$tmp/bin LD_LIBRARY_PATH=$PWD/build/lib
# Not all guests have it.
command -v pkg-config >/dev/null || {
	printf '#!/bin/sh\necho "%s"\n' "$flags" >"$tmp/bin/pkg-config"
	chmod 755 "$tmp/bin/pkg-config"
}

# What is to be typed, each block followed by a line that tells the blocks of the output apart.
awk '/^```sh$/ {on = 1; next} /^```$/ && on {on = 0; print "echo \"[end of block]\""} on' docs/tutorial.md >"$tmp/typed"
blocks=$(grep -c 'end of block' "$tmp/typed")
(cd "$tmp" && bash -e typed >said 2>errors)
status=$?
[ $status = 0 ] || sed 's/^/# /' "$tmp/errors"
ok $status "each of the commands of $blocks blocks works"
is "$(grep -c 'end of block' "$tmp/said")" "$blocks" "to the last"
is "$(cat "$tmp/errors")" "" "without any complaint"

block() { awk -v n="$1" '/^\[end of block\]$/ {at++; next} at == n - 1' "$tmp/said"; }

first=$(block 1 | sed -n '/^TAG/{n; s/.*\(\[anon\]\).*/\1/p}')
is "$first" '[anon]' "the anonymous mappings of redis come first in its tree"
block 3 | grep -q 'TAG: SHARED'
ok $? "--pss has the block that the text names"
mapfile -t used < <(block 4 | sed -n 's/^used_memory_human:\([0-9]*\).*/\1/p')
[ "${used[0]}" -gt $((3 * used[1])) ]
ok $? "redis has three quarters less in use (${used[0]} and ${used[1]} MiB)"
change=$(jq -s 'map(select(.tag == "[anon]") | .rss_bytes) | .[1] - .[0]' "$tmp/before" "$tmp/after")
[ "$change" -gt -4194304 ]
ok $? "but its pages stay ($change bytes)"
is "$(block 5 | awk 'END {print $5}')" 0 "an audit finds no drift"
is "$(block 6 | awk 'NR == 2 {print $1, $NF}')" 'python3 5/5' "the thread that keeps its memory grew in each interval"
is "$(block 6 | grep -c ' 5/5$')" 1 "and no other did"
is "$(block 7 | grep -c '^total ')" 7 "watch shows seven samples"
block 8 | grep -q ' python3 .* 0 *-'
ok $? "top shows the process"
check "the page holds the series" grep -q '<svg' "$tmp/page.html"
check "the icicle is XML" python3 -c 'import sys, pyexpat; pyexpat.ParserCreate().ParseFile(open(sys.argv[1], "rb"))' "$tmp/icicle.svg"
is "$(awk '{sum += $NF} END {print sum}' "$tmp/folded.txt")" \
	"$(mtagctl show -j --from "$tmp/series" | jq 'map(.rss_bytes) | add')" "the folded lines add up to the last sample"
block 10 | awk '/open_session .*server\.c:/ {found = 1} /answer/ {wrong = 1} END {exit !found || wrong}'
ok $? "the largest stack of the server is the one that opens sessions"
check "the folded stacks name it, too" grep -q ';main;open_session;filled[; ]' "$tmp/stacks.folded"
check "their page is there" grep -q '<svg' "$tmp/stacks.html"
block 12 | awk 'NR == 2 {grown = /^server .*\+[0-9.]+MiB +0$/} /open_session/ {found = 1} END {exit !found || !grown}'
ok $? "it is what has grown between two samples"
block 13 | grep -q 'had at most 1[0-6]\.[0-9] MiB'
ok $? "the cache stayed below its limit"
block 14 | grep -q 'python3 .*exit 0'
ok $? "the history has python3 and how it ended"
block 15 | awk '/^RSS/ {live = $5 + 0; if ($2 + 0 < 2 * live || live < 5) wrong = 1; n++} END {exit n != 3 || wrong}'
ok $? "under three allocators RSS is twice what is alive, and more"
is "$(health drift)" 0 "no counter of those that ended is off"
done_testing
