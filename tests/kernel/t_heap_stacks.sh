#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl run --heap --stacks of a program of which it is known what each of its places has allocated and not freed: the
# stacks say it, beside what has made RSS grow; in a forked child and after exec, too.
# vm: short=6.1 because="numbers of stacks are made in the same code on all" timeout=400
. tests/kernel/lib.sh
mtagctl=build/bin/mtagctl tmp=$(mktemp -d) lost=$(health stack_lost)
trap 'exec 9>&-; pkill -P $$; rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 COLUMNS=80 LD_LIBRARY_PATH=build/lib MTAG_HEAP_PERIOD=65536
mkfifo "$tmp/in"
no_khugepaged

gcc -std=gnu11 -O2 -fomit-frame-pointer -g -Iinclude tests/kernel/stacks/allocs.c -o "$tmp/allocs" -Lbuild/lib -lmtag
is $? 0 "the program is built" || done_testing

begin() { # MODE
	# It appends, so that its output can be emptied while it runs.
	: >"$tmp/out"
	$mtagctl run --heap"$1" --stacks -- "$tmp/allocs" <"$tmp/in" >>"$tmp/out" 2>&1 &
	pid=$!
	exec 9>"$tmp/in"
	until_true 60 grep -qs ready "$tmp/out" || bail "the program is not ready: $(cat "$tmp/out")"
}
end() {
	exec 9>&-
	wait "$pid" 2>/dev/null
}

# of FUNCTION: bytes never freed, their error, objects, and stacks that are not complete, of all stacks through it; - if none.
of() {
	jq -r --arg name "$1" '[.[] | select(.heap_objects > 0 and any(.stack[]; .function == $name))] | if length == 0 then "0 0 0 0" else
		"\(map(.heap_asked_bytes) | add) \(map(.heap_error_bytes | . * .) | add | sqrt | ceil) \(map(.heap_objects) | add) \(map(select(.complete | not)) | length)"
		end' "$tmp/json"
}
# near GOT WANT ROOM NAME
near() {
	awk -v got="$1" -v want="$2" -v room="$3" 'BEGIN { d = got - want; exit d * d > room * room }'
	ok $? "$4" || echo "#   got $1, want $2 within $3"
}
# known WHO PATTERN PLACES: what the lines of the program's output that match, so many, say of its places.
known() {
	local place bytes objects asked error found partial n=0
	while read -r place bytes objects; do
		read -r asked error found partial < <(of "$place")
		# Estimates may be 5 sigma off.
		near "$asked" "$bytes" $((5 * error)) "$1: $place has not freed $bytes bytes"
		near "$found" "$objects" $((5 * error * objects / (bytes + 1) + 1)) "$1: $place: $objects objects"
		is "$partial" 0 "$1: $place: the stacks are complete"
		n=$((n + 1))
	done < <(grep "$2" "$tmp/out")
	is $n "$3" "$1: the program has told of $3 of its places"
}

# agree PID WHO TAGS: stacks and heap say the same, and what is beneath stacks is what is anonymous.
agree() {
	local tag asked n=0
	check "$2: the tags of heap" $mtagctl heap -j -o "$tmp/heap" "$1"
	# The untagged has no name, and no words are empty but the last.
	while IFS=$'\t' read -r asked tag; do
		near "$(jq --arg tag "$tag" '[.[] | select(.tag == $tag) | .heap_asked_bytes] | add' "$tmp/json")" "$asked" 100 \
			"$2: the stacks of '$tag' add up to what heap says of it"
		n=$((n + 1))
	done < <(jq -r '.[] | select(.tag != null and .objects > 0) | [.asked_bytes, .tag] | @tsv' "$tmp/heap")
	is $n "$3" "$2: objects are under $3 tags"
	is "$(jq 'map(.anon_bytes) | add' "$tmp/json")" "$($mtagctl show -j "$1" | jq '[.. | .anon_bytes? // empty] | add')" \
		"$2: and to what is anonymous"
	is "$($mtagctl audit -j "$1" | jq '.[].drift_pages')" 0 "$2: no drift"
}

for mode in '' =exact; do
	begin "$mode"
	who=sampled
	[ -z "$mode" ] || who=exact
	check "$who: stacks prints JSON" $mtagctl stacks -j -o "$tmp/json" "$pid"
	known $who ^place 6
	agree "$pid" $who 3
	is "$(jq -r '[.[] | select(.heap_objects > 0 and any(.stack[]; .function // "" | startswith("place_"))) | .stack[-1].module] | unique | join(" ")' "$tmp/json")" \
		"$tmp/allocs" "$who: the innermost frame is the program's, where it calls malloc()"
	is "$(jq '[.[] | has("heap_asked_bytes") and has("heap_error_bytes")] | all' "$tmp/json")" true "$who: all stacks have the keys"
	is "$(jq '[.[] | select(any(.stack[]; .function == "place_untouched")) | .anon_bytes] | add < 1000000' "$tmp/json")" true \
		"$who: what nobody touches was not freed, and has not made RSS grow"
	is "$(jq '[.[] | select(any(.stack[]; .function == "place_freed")) | .heap_asked_bytes] | add // 0' "$tmp/json")" 0 \
		"$who: what was freed is not there"
	$mtagctl stacks "$pid" >"$tmp/table"
	is "$(grep -c '^     ANON .*UNFREED' "$tmp/table")" 1 "$who: the table has a column for it"
	is "$(wide "$tmp/table")" "" "$who: in 80 columns"
	check "$who: pprof" $mtagctl heap -f pprof -o "$tmp/profile.gz" "$pid"
	is "$(gunzip <"$tmp/profile.gz" | strings | grep -o 'place_[a-z]*' | sort -u | tr '\n' ' ')" \
		"place_grown place_half place_small place_thread place_untouched " "$who: has the functions as frames"
	if [ -z "$mode" ]; then
		echo fork >&9
		until_true 60 grep -qs child "$tmp/out" || bail "no child"
		child=$(awk '/^child/ {print $2}' "$tmp/out")
		check "child: JSON" $mtagctl stacks -j -o "$tmp/json" "$child"
		known child ^place 6
		echo "place_again 16000000 4000" >>"$tmp/out"
		known child ^place_again 1
		agree "$child" child 3
		is "$($mtagctl stacks -j --older 1000 "$child" | jq 'map(.heap_asked_bytes) | add // 0')" 0 \
			"child: nothing was allocated a thousand seconds ago"
		kill "$child"
		: >"$tmp/out"
		echo exec >&9
		until_true 60 grep -qs ready "$tmp/out" || bail "no second program"
		check "exec: JSON" $mtagctl stacks -j -o "$tmp/json" "$pid"
		known exec ^place 1
		agree "$pid" exec 1
		is "$(of place_small)" "0 0 0 0" "exec: the first program's places are gone"
	fi
	end
done

# With a view, but no stacks; with stacks, but no view.
$mtagctl run --heap -- "$tmp/allocs" <"$tmp/in" >"$tmp/out" 2>&1 &
pid=$!
exec 9>"$tmp/in"
until_true 60 grep -qs ready "$tmp/out" || bail "the program is not ready"
check "without stacks: pprof" $mtagctl heap -f pprof -o "$tmp/profile.gz" "$pid"
is "$(gunzip <"$tmp/profile.gz" | strings | grep -c place_)" 0 "without stacks there are tags only"
check "stacks begin later" $mtagctl track --stacks "$pid"
echo fork >&9
until_true 60 grep -qs child "$tmp/out" || bail "no child"
child=$(awk '/^child/ {print $2}' "$tmp/out")
$mtagctl stacks -j -o "$tmp/json" "$child"
# Within a second the library asks for stacks; what was allocated before is beneath none.
is "$(jq '[.[] | select(.stack[0].function == "[before]") | .heap_asked_bytes] | add > 30000000' "$tmp/json")" true \
	"what was allocated before stacks were taken is beneath none"
end
kill "$child"
$mtagctl run --stacks -- "$tmp/allocs" <"$tmp/in" >"$tmp/out" 2>&1 &
pid=$!
exec 9>"$tmp/in"
until_true 60 grep -qs ready "$tmp/out" || bail "the program is not ready"
is "$($mtagctl stacks -j "$pid" | jq '[.[] | has("heap_asked_bytes")] | any')" false "without a view there are no keys of it"
end
is "$(health stack_lost)" "$lost" "no stack was lost"
done_testing
