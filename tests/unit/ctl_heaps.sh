#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl with snapshots that have heaps: what it prints is what tests/unit/ctl_golden/heap* has, in 80 columns, and what
# is wrong in a file is refused with the line and the key. MTAG_GOLDEN_UPDATE=1 writes the files anew.
cd "$(dirname "$(realpath "$0")")/../.." || exit
ctl=$PWD/build/bin/mtagctl
golden=$PWD/tests/unit/ctl_golden
snap=$golden/heap.jsonl
n=0 failed=0
export LC_ALL=C.UTF-8 COLUMNS=80
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit

ok() { # NAME, after the command that is tested
	local status=$?
	n=$((n + 1))
	[ $status = 0 ] && echo "ok $n - $1" || { failed=1; echo "not ok $n - $1"; }
}
# prints FILE NAME WORD…: mtagctl prints what the golden file has.
prints() {
	local file=$golden/$1 name=$2
	shift 2
	"$ctl" "$@" >out 2>&1
	[ -z "${MTAG_GOLDEN_UPDATE:-}" ] || cp out "$file"
	cmp -s out "$file" && ! [[ $file = *.txt && -n $(awk 'length > 84' out) && $COLUMNS = 80 ]] # a ± has two bytes
	ok "$name" || diff "$file" out | sed 's/^/# /'
}
# refuses SED PATTERN NAME: a file that is changed so cannot be read.
refuses() {
	local status
	sed "$1" "$snap" >wrong
	"$ctl" heap --from wrong >out 2>err
	status=$?
	! cmp -s wrong "$snap" && [ $status = 2 ] && [ ! -s out ] && grep -q "^mtagctl: wrong: line [0-9]*: $2" err
	ok "$3" || sed 's/^/# /' err
}

head -n 9 "$snap" >first
prints heap.txt 'heap --from prints the last sample' heap --from "$snap"
prints heap-account.txt 'with --account each tag has its terms' heap --account --from "$snap"
prints heap.json 'and as JSON' heap -j -p --from "$snap" 4711
process() { "$ctl" heap -j --from "$1" 4711 | jq -c '.[] | select(.tag == null) | [.mode, .reason, .retained_age_seconds]'; }
sed 's/"heap_mode":"sampled"/&,"heap_reason":"no room"/' "$snap" >refused
sed 's/,"heap_retained_[a-z_]*":[0-9]*//g' "$snap" >silent
[ "$(process "$snap")$(process refused)$(process silent)" = '["sampled",null,3]["sampled","no room",3]["sampled",null,null]' ]
ok 'JSON says why bytes are not counted, and how old the word of the allocator is'
prints heap-diff.txt 'diff shows what was asked, and is wasted' diff first "$snap"
prints heap-diff.json 'and as JSON' diff -j -p first "$snap"
prints heap-growth.txt 'diff --growth tells a leak from fragments' diff --growth "$snap"
prints heap-growth.json 'and as JSON' diff -j -p --growth "$snap"
prints heap-watch.txt 'watch has what is asked and wasted beside RSS' watch --from "$snap" 4711
COLUMNS=100 prints heap-watch-wide.txt 'and files, where there is room' watch --from "$snap" 4711 -n 1
# In ASCII, where a character is a byte. The first line is the process, which is as long as its name.
for width in 40 48 49 57 58 66 67 75 76 84 85; do
	for pid in 12 4711; do
		LC_ALL=C COLUMNS=$width "$ctl" watch --from "$snap" $pid -n 1 | sed 1d | awk -v w=$width 'length > w {print length}'
	done
done >out
[ ! -s out ]
ok 'watch is as narrow as a terminal of 40 columns' || sed 's/^/# /' out
heads() { LC_ALL=C COLUMNS=$1 "$ctl" watch --from "$snap" $2 -n 1 | sed -n 2p | tr -s ' '; }
[ "$(for width in 48 49 66 67; do heads $width 12; done | cut -d ' ' -f 4-)" = 'ANON
ANON SWAP
ANON SWAP
ANON FILE SHMEM SWAP' ]
ok 'where there is no room for files there is swap, or memory alone'
[ "$(for width in 57 58 67; do heads $width 4711; done | cut -d ' ' -f 4-)" = 'ANON SWAP
ASKED WASTED ANON
ASKED WASTED ANON SWAP' ]
ok 'so it is with a heap'
prints heap-top.txt 'top has what is asked' top -s asked --from "$snap"
prints heap-top-tag.txt 'also by tag' top -b tag -s asked --from "$snap"
"$ctl" top -j -b tag --from "$snap" | jq -e 'map(select(.tag == "cache") | .asked_bytes) == [130572288]' >/dev/null
ok 'and in JSON'
"$ctl" watch -j --from "$snap" 12 | jq -e 'map(has("asked_bytes")) | any | not' >/dev/null
ok 'a process without a heap has none of this'
"$ctl" heap -j --from "$snap" | jq -e 'map(select(.tag == null)) | .[0].rss_bytes ==
	(.[0] | .rss_live_bytes + .rss_free_bytes + .rss_own_bytes + .rss_stacks_bytes + .rss_files_bytes + .rss_data_bytes +
		.rss_shared_bytes + .rss_view_bytes + .rss_other_bytes)' >/dev/null
ok 'the terms of the process are its RSS'
diff <("$ctl" heap -j --from "$snap" | jq -c 'map(select(.tag != null) | [.tag, .rss_bytes])') \
	<("$ctl" show -j --from "$snap" 4711 | jq -c 'map([.tag, .rss_bytes])')
ok 'the RSS of each tag is that of show'
"$ctl" heap -f pprof -o profile.gz --from "$snap" && go tool pprof -symbolize=none -raw profile.gz >raw
ok 'pprof is written of a sample, too'
diff <(awk '$4 == "bytes" || /^inuse_objects/ {print $1, $2, $3}
		/^ +[0-9]+ +[0-9]+ +[0-9]+:/ {values = $1 " " $2 " " $3} /tag:/ {sub(/.*tag:\[/, ""); sub(/\]$/, ""); print values, $0}' raw) \
	<(echo inuse_objects/count 'inuse_space/bytes[dflt]' inuse_resident/bytes
		"$ctl" heap -j --from "$snap" | jq -r '.[] | select(.tag != null and .objects > 0) |
			"\(.objects) \(.asked_bytes) \(.resident_bytes): \(if .tag == "" then "[untagged]" else .tag end)"')
ok 'go tool pprof reads objects, bytes asked and bytes resident of each tag as JSON has them'
diff <("$ctl" heap --from "$snap" --sample 1 | sed -n 4p) <(echo ' 95.0M  96.5M    512K  96.0M       0   3.0M    80000 ±6.6%  cache')
ok '--sample chooses another one'

# Two workers become one, and their tags a and b.
sed 's/"pid":4711/"pid":4712/; s/"time_ms":[0-9]*/"time_ms":1700000000123/' first | grep -v '"pid":12,' >second
{ head -n 1 first; grep redis first; grep redis second; echo '{"end":12}'; } >both
printf '%s\n' 'comm s/^redis.*/redis/' 'tag s/^pool$/net/' >rules
"$ctl" merge --rules rules -o merged both
ok 'merge reads heaps'
is_twice() { paste <("$ctl" heap -j --from merged | jq "$1") <("$ctl" heap -j --from first | jq "$1") | awk '$1 != 2 * $2 {bad = 1} END {exit bad || !NR}'; }
is_twice 'map(select(.tag != null)) | (map(.asked_bytes) | add), (map(.objects) | add), (map(.wasted_bytes) | add), (map(.rss_bytes) | add)'
ok 'and adds the tags'
is_twice '.[] | select(.tag == null) | .retained_bytes, .rss_bytes, .rss_live_bytes, .seen'
ok 'and the processes'
# The root of 2 * (1048576 squared + 153600 squared).
"$ctl" heap -j --from merged | jq -e 'map(select(.tag == "net").error_bytes) == [1498736]' >/dev/null
ok 'and errors as those of independent estimates'
printf '%s\n' 'comm s/.*/all/' >rules
"$ctl" merge --rules rules -o merged "$snap" && ! grep -q 'asked\|heap_' merged
ok 'with a process that has no heap, there is none'

"$ctl" heap --from "$snap" --sample 2 | grep -q ' + free 6.0MiB + own '
ok 'what is free is exact if as much is free at least'
"$ctl" heap --from first | grep -q ' + free ≤6.0MiB + own ≥17.0MiB'
ok 'and a bound in samples that do not say that'
sed 's/"heap_seen":/"heap_own_allocator":true,&/' "$snap" >own
"$ctl" heap --from own | tail -2 | tr '\n' ' ' | grep -qx 'Objects may be missing: the program has an allocator of its own, and only that knows all of them. ' &&
	"$ctl" heap -j --from own | jq -e 'map(select(.tag == null).own_allocator) == [true]' >/dev/null
ok 'an allocator of its own that is bypassed is told'
sed 's/"heap_seen":/"heap_own_allocator":false,&/' "$snap" >own
"$ctl" heap -j --from own | jq -e 'map(select(.tag == null).own_allocator) == [false]' >/dev/null
ok 'but not where the file says that there is none'

says() { "$ctl" "$@" 2>&1 >/dev/null; }
[ "$(says heap --from "$snap" 12)" = "mtagctl: process 12 has no heap in this sample of $snap" ]
ok 'a process without a heap is told'
[ "$(says heap --from "$golden/snapshot.jsonl")" = "mtagctl: no process has a heap in this sample of $golden/snapshot.jsonl; \`mtagctl snapshot\` saves those of programs that \`mtagctl run --heap\` started" ]
ok 'so is a file without any'
[ "$(says heap --account -j --from "$snap")" = "mtagctl: heap: --account is for the table; JSON always has it" ]
ok '--account is for the table'
[ "$(says heap -f svg)" = "mtagctl: heap: unknown format 'svg' (table, json or pprof)" ]
ok 'a format that there is not is told'

jq -c 'with_entries(select(.key | test("^heap_|asked|allocated|untouched|resident|swapped|foreign|pages_|wasted|objects|error|^rss_.+_bytes") | not))' \
	"$snap" >without
"$ctl" diff without "$snap" >out && ! grep -q ASKED out && ! "$ctl" diff -j without "$snap" | grep -q asked
ok 'with a heap on one side only, diff has what both have'
cmp -s <("$ctl" show -j -s --from without) <("$ctl" show -j -s --from "$snap")
ok 'all other commands read a sample with heaps as one without'
sed 's/"heap_mode":"sampled",//; s/"asked_bytes":[0-9]*/"asked_bytes":"x"/' "$snap" >other
"$ctl" show --from other >/dev/null
ok 'of a process that does not say that it has a heap, the keys of one are skipped'
sed 's/"asked_bytes":[0-9]*,//' "$snap" >none && "$ctl" heap -j --from none | jq -e 'map(.tag) == [null]' >/dev/null
ok 'a tag whose line has no asked_bytes has nothing of the heap'

refuses 's/"heap_mode":"sampled"/"heap_mode":"x"/' '"heap_mode" is sampled or exact' 'a mode that there is not'
refuses 's/"heap_mode":"sampled"/"heap_mode":[{}]/' '"heap_mode" is sampled or exact' 'a mode that is no word'
refuses 's/"heap_seen":/"heap_seen":-/' 'a "heap_" key of bytes, seconds or counts is a whole number' 'less than nothing'
refuses 's/"heap_rss_free_bytes":/&1/' '"heap_rss_bytes" is the sum of' 'terms that do not add up'
refuses 's/"heap_allocator":"glibc"/"heap_allocator":"'"$(printf '%0200d' 0)"'"/' '"heap_allocator" and "heap_reason" are strings of at most' 'a name that is too long'
refuses 's/"heap_allocator":"glibc"/"heap_allocator":5/' '"heap_allocator" and "heap_reason" are strings' 'a name that is none'
refuses 's/"objects":80000/"objects":8e4/' "the keys of a tag's heap, \"asked_bytes\" and so on, are whole numbers" 'objects that are no whole number'
refuses 's/"rss_guest_bytes":/&null,"x":/' "the keys of a tag's heap" 'a key that is null'
refuses 's/"untouched_bytes":0/"untouched_bytes":1/' '"allocated_bytes" is the sum of' 'bytes that do not add up'
refuses 's/"asked_bytes":/"asked_bytes":1,&/' 'the key "asked_bytes" comes twice' 'a key that comes twice'
refuses 's/"objects":80000/"objects":99999999999999999999/' 'a number is larger than' 'a number that is too large'
echo "1..$n"
exit $failed
