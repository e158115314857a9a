#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl heap against programs whose heap is known, counted and sampled; and what RSS consists of, against smaps_rollup,
# of python and redis, too.
# vm: timeout=400 repairs=any short=6.1 because="what is read of a heap is mtagctl's; and a stack of redis-server's thread may be taken away"
. tests/kernel/lib.sh
# Of which this has smaps_kinds, and as_smaps; what is below takes the place of the rest.
. tests/kernel/heaps.sh
mtagctl=build/bin/mtagctl tmp=$(mktemp -d)
trap 'exec 9>&-; pkill -P $$; rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 COLUMNS=80
mkfifo "$tmp/in"
no_khugepaged

# begin PROGRAM…: runs it with a heap view of $how until it is ready; $pid, $tmp/out.
begin() {
	local view=--heap$how
	[ "$how" != -linked ] || view=''
	LD_LIBRARY_PATH=build/shared/lib:build/lib $mtagctl run $view -- "$@" <"$tmp/in" >"$tmp/out" 2>&1 &
	pid=$!
	exec 9>"$tmp/in"
}
ready() { grep -qs ready "$tmp/out"; }
end() {
	exec 9>&-
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

# What mtagctl's JSON says: ${got[TAG KEY]}; TAG is null for the process itself.
declare -A got
take_json() {
	local name key value
	got=()
	while read -r name key value; do got["$name $key"]=$value; done < <(jq -r '.[] | (.tag | if . == "" then "[untagged]" else . end | tostring | gsub(" "; "_")) as $tag |
		to_entries[] | "\($tag) \(.key) \(.value)"' "$tmp/json")
}
# of TAG KEY: a number of it.
of() { echo "${got[$1 $2]}"; }

numbers='map(select(.asked_bytes // 0 > 0) | {tag, asked_bytes, objects, wasted_bytes}) | sort_by(.tag)'
# by_tag FILE: [TAG, RSS] of each that has any.
by_tag() { jq -c 'map(select(.tag != null and .rss_bytes > 0) | [.tag, .rss_bytes]) | sort' "$1"; }
stands_still() { cat /proc/"$pid"/task/*/status | awk '/^State:/ && $2 != "T" {moves = 1} END {exit moves}'; }

# accounted NAME: the terms are the RSS, and that is what smaps_rollup says, of a process that stands still.
accounted() {
	local sum=0 rss key
	kill -STOP "$pid"
	until_true 60 stands_still || bail "process $pid does not stop"
	check "$1: heap prints JSON" $mtagctl heap -j -o "$tmp/json" "$pid"
	rss=$(awk '/^Rss:/ {print $2 * 1024}' "/proc/$pid/smaps_rollup")
	take_json
	for key in live free own stacks files data shared view other; do sum=$((sum + $(of null rss_${key}_bytes))); done
	is "$sum" "$rss" "$1: the terms of the account are the RSS of smaps_rollup"
	is "$(of null rss_bytes)" "$rss" "$1: and the RSS that it tells"
	as_smaps "$1" "$pid"
	is "$(by_tag "$tmp/json")" "$($mtagctl show -j "$pid" | jq -c 'map(select(.rss_bytes > 0) | [.tag, .rss_bytes]) | sort')" \
		"$1: the RSS of each tag is what show says"
	is "$(jq 'map(select(.tag != null).rss_bytes) | add' "$tmp/json")" "$rss" "$1: and their sum that of smaps_rollup"
	is "$(jq -c "map(select(.tag != null) | select(.rss_bytes != ($(printf '.rss_%s_bytes + ' live guest wasted stacks files data shared view)
		.rss_other_bytes)))" "$tmp/json")" "[]" "$1: the terms of each tag are its RSS"
	is "$(jq -c 'map(select(.tag != null) | select(.pages_bytes != .rss_live_bytes + .rss_guest_bytes + .wasted_bytes))' "$tmp/json")" "[]" \
		"$1: on its pages of the heap are its objects, those of others, and nothing"
	for key in stacks files data shared view other; do
		is "$(jq "map(select(.tag != null).rss_${key}_bytes) | add" "$tmp/json")" "$(of null rss_${key}_bytes)" "$1: $key of all tags"
	done
	$mtagctl heap "$pid" >"$tmp/table"
	is "$(grep -c '^RSS ' "$tmp/table")" 1 "$1: the table has the account"
	$mtagctl heap --account "$pid" >"$tmp/accounts"
	is "$(grep -c '^  RSS ' "$tmp/accounts")" "$(jq '[.[] | select(.rss_bytes > 0)] | length' "$tmp/json")" "$1: with --account each tag has one"
	is "$(wide "$tmp/table" "$tmp/accounts")" "" "$1: in 80 columns"
	is "$($mtagctl watch -j -n 1 "$pid" | jq -c "$numbers")" "$(jq -c "$numbers" "$tmp/json")" "$1: watch has the same numbers"
	# Sums of the library's own counters, in whole bytes: of each sample one.
	near "$($mtagctl top -j -n 1 | jq "map(select(.pid == $pid).asked_bytes) | add")" "$(jq 'map(.asked_bytes | values) | add' "$tmp/json")" \
		"$(if [ "$how" = =exact ]; then echo 0; else echo 5000; fi)" "$1: and so has top"
	rm -f "$tmp/snap"
	check "$1: a snapshot is taken" $mtagctl snapshot -o "$tmp/snap" "$pid"
	# All but the age of what the allocator said, as time goes on.
	is "$($mtagctl heap -j --from "$tmp/snap" "$pid" | jq -c 'map(del(.retained_age_seconds))')" \
		"$(jq -c 'map(del(.retained_age_seconds))' "$tmp/json")" "$1: it keeps the heap"
	is "$($mtagctl show -j --from "$tmp/snap" | cksum)" "$($mtagctl show -j "$pid" | cksum)" "$1: and the tags"
	is "$($mtagctl audit -j "$pid" | jq '.[].drift_pages')" 0 "$1: no drift"
	kill -CONT "$pid"
}

# near GOT WANT ROOM NAME
near() {
	awk -v got="$1" -v want="$2" -v room="$3" 'BEGIN { d = got - want; exit d * d > room * room }'
	ok $? "$4" || echo "#   got $1, want $2 within $3"
}

# known MODE HEAPER
known() {
	local tag asked allocated objects resident error n=0
	begin "$2"
	until_true 60 ready || bail "heaper is not ready: $(cat "$tmp/out")"
	if [ "$how" = -linked ] && [ -z "${MTAG_LONG:-}" ]; then
		# But for how it came into the program the library is the same.
		check "heaper$how: heap prints JSON" $mtagctl heap -j -o "$tmp/json" "$pid"
		take_json
	else
		accounted "heaper$how"
	fi
	while read -r tag asked allocated objects resident; do
		[ "$tag" != ready ] || break
		# Estimates may be 5 sigma off; a page at the end of an object is not worth a word.
		error=$(($(of "$tag" error_bytes) * 5))
		near "$(of "$tag" asked_bytes)" "$asked" $error "heaper$how: $tag: bytes asked"
		near "$(of "$tag" allocated_bytes)" "$allocated" $error "heaper$how: $tag: bytes allocated"
		near "$(of "$tag" objects)" "$objects" $(($(of "$tag" objects_error) * 5)) "heaper$how: $tag: objects"
		error=$(($(of "$tag" resident_error_bytes) * 5 + 65536))
		near "$(of "$tag" resident_bytes)" "$resident" $error "heaper$how: $tag: alive and resident"
		n=$((n + 1))
		is $(($(of "$tag" resident_bytes) + $(of "$tag" untouched_bytes) + $(of "$tag" swapped_bytes))) \
			"$(of "$tag" allocated_bytes)" "heaper$how: $tag: what is not resident is untouched"
	done <"$tmp/out"
	is $n 3 "heaper$how: it has told of its three tags"
	[ $(($(of c foreign_bytes) * 10)) -gt $(($(of c resident_bytes) * 9)) ]
	ok $? "heaper$how: what c has is on pages of a"
	[ "$(of a wasted_bytes)" -gt 1000000 ] && [ "$(of a wasted_bytes)" -lt 16000000 ]
	ok $? "heaper$how: what a has freed, and c not taken, is wasted"
	is "$(jq -c 'map(keys | length) | unique | length' "$tmp/json")" 2 "heaper$how: tags have the same keys"
	is "$(of null mode)" "$1" "heaper$how: the mode is told"
	check "heaper$how: pprof" $mtagctl heap -f pprof -o "$tmp/profile.gz" "$pid"
	is "$(gunzip <"$tmp/profile.gz" | grep -aoc 'inuse_space')" 1 "heaper$how: has inuse_space"
	end
}

how='' MTAG_HEAP_PERIOD=65536
export MTAG_HEAP_PERIOD
known sampled build/shared/tests/kernel/heaper
# Programs may also be linked with the library, and then need no --heap.
cc -std=c11 -D_GNU_SOURCE -Iinclude -Iinclude/compat -o "$tmp/heaper" tests/kernel/heaper.c build/tests/kernel/lib.a \
	-Lbuild/shared/lib -Lbuild/lib -Wl,--no-as-needed -lmtag-heap -lmtag -lm -pthread
is $? 0 "a program is linked with libmtag-heap"
how=-linked
known sampled "$tmp/heaper"
how='=exact'
known exact build/tests/kernel/heaper
unset MTAG_HEAP_PERIOD

begin python3 -u -c 'import json, sys; x = [json.loads("{\"a\": [1, 2, 3]}") for i in range(50000)]; print("ready"); sys.stdin.read()'
until_true 100 ready || bail "python3 is not ready: $(cat "$tmp/out")"
accounted "python3$how"
end
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
is "$($mtagctl snapshot | grep -c 'heap\|asked')" 0 "without a heap view nothing is added to a snapshot"
is "$(says run --heap -- build/static/tests/abi/layout)" "mtagctl: run: build/static/tests/abi/layout is linked statically: no library can come between it and its allocator, and there will be no heap view" "a static program"
done_testing
