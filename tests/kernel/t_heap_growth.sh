#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl snapshot and diff --growth of programs that grow in a known way: by objects that are alive, by what is left
# between them, by memory that is mapped. And what has no heap to be read does not stop a snapshot.
# vm: only=6.1,6.12 short=6.1 because="it is mtagctl's, and Debian 13's python3-minimal, in the root of later kernels, has no mmap" timeout=300
. tests/kernel/lib.sh
mtagctl=$PWD/build/bin/mtagctl tmp=$(mktemp -d)
trap 'exec 9>&-; pkill -P $$; rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 COLUMNS=80
no_khugepaged
mkfifo "$tmp/in"
# Does a step for each line that it reads.
cat >"$tmp/grow.py" <<'END'
import mmap, sys
kept = []
def live(step):  # 10 MB that are not freed
    kept.append([bytearray(b'x' * 5000) for i in range(2000)])
def wasted(step):  # of 12 MB, each third object stays, and what is left between them is too small for later ones
    size = (5000, 12000, 30000)[step]
    full = b'x' * size  # each page is touched
    objects = [bytearray(full) for i in range(12000000 // size)]
    kept.append(objects[::3])
def other(step):  # 10 MB that the allocator knows nothing of
    area = mmap.mmap(-1, 10000000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, 10000000, 4096): area[at] = 1
    kept.append(area)
for step in range(3):
    print('ready', step, flush=True)
    if not sys.stdin.readline(): break
    globals()[sys.argv[1]](step)
print('ready 3', flush=True)
sys.stdin.read()
END
has_done() { grep -qs "^ready $1" "$tmp/out"; }

# grows HOW MODE: what mtagctl says of a program that grows so.
grows() {
	local step pid
	rm -f "$tmp/series"
	$mtagctl run --heap$2 -- python3 "$tmp/grow.py" "$1" <"$tmp/in" >"$tmp/out" 2>&1 &
	pid=$!
	exec 9>"$tmp/in"
	for step in 0 1 2 3; do
		until_true 60 has_done $step || bail "the program does not grow: $(cat "$tmp/out")"
		$mtagctl snapshot -o "$tmp/series" $pid || bail "no snapshot"
		[ $step = 3 ] || echo >&9
	done
	exec 9>&-
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
	$mtagctl diff -j --growth "$tmp/series" >"$tmp/json"
	is "$(jq -r '.[] | select(.tag == "") | .what' "$tmp/json")" "$1" "heap$2: what grows is $1" || jq -c . "$tmp/json"
	$mtagctl diff --growth "$tmp/series" >"$tmp/table"
	is "$(awk '$NF == "'"$1"'" && $1 == "python3"' "$tmp/table" | wc -l)" 1 "heap$2: the table says so"
	is "$(wide "$tmp/table")" "" "heap$2: in 80 columns"
}

grows live =exact
# 30 MB, for a kilobyte or two that the interpreter needs itself.
is "$(jq '.[] | select(.tag == "") | .asked_delta_bytes > 30000000 and .asked_delta_bytes < 30500000' "$tmp/json")" true "and what was asked for is counted"
grows wasted =exact
grows other =exact
export MTAG_HEAP_PERIOD=65536
grows live ''
grows wasted ''

# A tag of that name alone is no heap view.
$mtagctl run -t '[heap view]' -- sleep 1000 &
pid=$!
until_true 60 grep -q sleep /proc/$pid/comm
check "a process that has none of what its tags promise does not stop a snapshot" $mtagctl snapshot -o "$tmp/none" $pid
is "$($mtagctl show -j --from "$tmp/none" $pid | jq length)" "$($mtagctl show -j $pid | jq length)" "its tags are there"
is "$(grep -c 'heap_mode\|asked_bytes' "$tmp/none")" 0 "without a heap"
check "nor top" $mtagctl top -n 1
kill $pid
# Processes that begin and end while they are read.
(while [ ! -e "$tmp/enough" ]; do $mtagctl run --heap -- true; done) &
churn=$!
wrong=0 n=0 began=$(health ended)
# However fast either is.
while [ $n -le 5 ] || [ $(($(health ended) - began)) -lt 20 ]; do
	n=$((n + 1))
	$mtagctl snapshot -o "$tmp/churn" || wrong=$((wrong + 1))
done
: >"$tmp/enough"
wait $churn
[ $n -gt 5 ]
ok $? "snapshots are taken while programs with a heap come and go"
is $wrong 0 "and each is whole"
check "and can be read" $mtagctl show -j --from "$tmp/churn" -o /dev/null
done_testing
