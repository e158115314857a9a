#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl heap against programs whose heap is known, counted and sampled; and what RSS consists of, against smaps_rollup,
# of python and redis, too.
# vm: timeout=400 group=parallel mem=2G repairs=any because="a stack of redis-server's thread may be taken away"
. tests/kernel/lib.sh
mtagctl=build/bin/mtagctl tmp=$(mktemp -d)
trap 'exec 9>&-; pkill -P $$; rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 COLUMNS=80
mkfifo "$tmp/in"
no_khugepaged

# begin PROGRAM…: runs it with a heap view of $how until it is ready; $pid, $tmp/out.
begin() {
	LD_LIBRARY_PATH=build/shared/lib $mtagctl run --heap$how -- "$@" <"$tmp/in" >"$tmp/out" 2>&1 &
	pid=$!
	exec 9>"$tmp/in"
}
ready() { grep -qs ready "$tmp/out"; }
end() {
	exec 9>&-
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

# of TAG KEY: a number of mtagctl's JSON; "null": the process itself.
of() { jq ".[] | select(.tag == $1) | .$2" "$tmp/json"; }

stands_still() { cat /proc/"$pid"/task/*/status | awk '/^State:/ && $2 != "T" {moves = 1} END {exit moves}'; }

# accounted NAME: the terms are the RSS, and that is what smaps_rollup says, of a process that stands still.
accounted() {
	local sum rss
	kill -STOP "$pid"
	until_true 60 stands_still || bail "process $pid does not stop"
	check "$1: heap prints JSON" $mtagctl heap -j -o "$tmp/json" "$pid"
	rss=$(awk '/^Rss:/ {print $2 * 1024}' "/proc/$pid/smaps_rollup")
	sum=$(jq '.[] | select(.tag == null) | [to_entries[] | select(.key | test("^rss_.*_bytes$") and (test("error") | not)) | .value] | add' "$tmp/json")
	is "$sum" "$rss" "$1: the terms of the account are the RSS of smaps_rollup"
	is "$(of null rss_bytes)" "$rss" "$1: and the RSS that it tells"
	$mtagctl heap "$pid" >"$tmp/table"
	is "$(grep -c '^RSS ' "$tmp/table")" 1 "$1: the table has the account"
	is "$(awk 'length > 80' "$tmp/table")" "" "$1: in 80 columns"
	is "$($mtagctl audit -j "$pid" | jq '.[].drift_pages')" 0 "$1: no drift"
	kill -CONT "$pid"
}

# near GOT WANT ROOM NAME
near() {
	awk -v got="$1" -v want="$2" -v room="$3" 'BEGIN { d = got - want; exit d * d > room * room }'
	ok $? "$4" || echo "#   got $1, want $2 within $3"
}

known() {
	local tag asked allocated objects resident error
	begin build/shared/tests/kernel/heaper
	until_true 60 ready || bail "heaper is not ready: $(cat "$tmp/out")"
	accounted "heaper$how"
	while read -r tag asked allocated objects resident; do
		[ "$tag" != ready ] || break
		# Estimates may be 5 sigma off; a page at the end of an object is not worth a word.
		error=$(($(of "\"$tag\"" error_bytes) * 5))
		near "$(of "\"$tag\"" asked_bytes)" "$asked" $error "heaper$how: $tag: bytes asked"
		near "$(of "\"$tag\"" allocated_bytes)" "$allocated" $error "heaper$how: $tag: bytes allocated"
		[ "$how" != =exact ] || is "$(of "\"$tag\"" objects)" "$objects" "heaper$how: $tag: objects"
		error=$(($(of "\"$tag\"" resident_error_bytes) * 5 + 65536))
		near "$(of "\"$tag\"" resident_bytes)" "$resident" $error "heaper$how: $tag: alive and resident"
		is "$(of "\"$tag\"" '| .allocated_bytes - .resident_bytes - .untouched_bytes - .swapped_bytes' | sed 's/^-0$/0/')" \
			0 "heaper$how: $tag: what is not resident is untouched"
	done <"$tmp/out"
	jq -e '.[] | select(.tag == "c") | .foreign_bytes > .resident_bytes * 0.9' "$tmp/json" >"$tmp/log"
	ok $? "heaper$how: what c has is on pages of a"
	jq -e '.[] | select(.tag == "a") | .wasted_bytes > 1000000 and .wasted_bytes < 16000000' "$tmp/json" >"$tmp/log"
	ok $? "heaper$how: what a has freed, and c not taken, is wasted"
	is "$(jq -c 'map(keys | length) | unique | length' "$tmp/json")" 2 "heaper$how: tags have the same keys"
	is "$(jq -r '.[-1].mode' "$tmp/json")" "$1" "heaper$how: the mode is told"
	check "heaper$how: pprof" $mtagctl heap -f pprof -o "$tmp/profile.gz" "$pid"
	is "$(gunzip <"$tmp/profile.gz" | grep -aoc 'inuse_space')" 1 "heaper$how: has inuse_space"
	end
}

how='' MTAG_HEAP_PERIOD=65536
export MTAG_HEAP_PERIOD
known sampled
how='=exact'
known exact
unset MTAG_HEAP_PERIOD

for how in '' =exact; do
	begin python3 -u -c 'import json, sys; x = [json.loads("{\"a\": [1, 2, 3]}") for i in range(50000)]; print("ready"); sys.stdin.read()'
	until_true 100 ready || bail "python3 is not ready: $(cat "$tmp/out")"
	accounted "python3$how"
	end
done
how=''
begin redis-server --port 7777 --save ''
until_true 60 redis-cli -p 7777 ping >/dev/null || bail "redis-server does not answer: $(cat "$tmp/out")"
redis-cli -p 7777 debug populate 20000 key 1000 >/dev/null
accounted redis-server
end

# What has none gets a sentence.
says() { $mtagctl "$@" 2>&1 >/dev/null; }
sleep 1000 &
pid=$!
is "$(says heap $pid)" "mtagctl: process $pid is not tracked" "a process that is not tracked"
kill $pid
$mtagctl run -- sleep 1000 &
pid=$!
until_true 60 grep -q sleep /proc/$pid/comm
is "$(says heap $pid)" "mtagctl: process $pid has no heap view: it was not started by \`mtagctl run --heap\`" "one without a view"
kill $pid
is "$(says run --heap -- build/static/tests/abi/layout)" "mtagctl: run: build/static/tests/abi/layout is linked statically: no library can come between it and its allocator, and there will be no heap view" "a static program"
done_testing
