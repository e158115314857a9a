#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Snapshots that the environment asks for: of a real program, read back by mtagctl.
# vm: short=6.1 because="the files are mtagctl's, and the same on all" timeout=200
. tests/kernel/lib.sh
PATH=$PWD/build/bin:$PATH
tmp=$(mktemp -d)
trap 'kill $pid 2>/dev/null; rm -rf "$tmp"' EXIT
seq 200000 >"$tmp/text"
export MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH=$tmp/snap
export MTAG_STATS_OUTPUT_JSON=$tmp/stats.json MTAG_STATS_OUTPUT_GRAPHVIZ_DOT=$tmp/stats.dot

# rss FILE [TAG]: what a snapshot says.
rss() { mtagctl -j show --from "$1" | jq --arg tag "${2:-}" '.[] | select(.tag == $tag) | .rss_bytes'; }
count() { find "$tmp" -name 'snap.*.json' | wc -l; }
has_enough() { [ "$(count)" -ge "$enough" ]; }
rss_of_all() { mtagctl -j show --from "$1" | jq 'map(.rss_bytes) | add'; }

MTAG_SNAPSHOT_INTERVAL_SEC=1 build/examples/ingest --hold 600 "$tmp/text" >"$tmp/out" &
pid=$!
until_true 60 test -s "$tmp/snap.0001.json"
ok $? "a snapshot appears each second"
# From its report on the program holds what it has; the second one from now is of that.
until_true 60 grep -q touched "$tmp/out"
enough=$(($(count) + 2))
until_true 60 has_enough
last=$(printf '%s\n' "$tmp"/snap.*.json | tail -n 1)
kill -STOP $pid
is "$(rss "$last" ingest/index)" "$(mtagctl -j show $pid | jq '.[] | select(.tag == "ingest/index") | .rss_bytes')" \
	"mtagctl reads it, and it says what the kernel says"
mtagctl diff "$tmp/snap.0000.json" "$last" >"$tmp/diff"
ok $? "mtagctl compares two of them"
cat "$tmp"/snap.*.json >"$tmp/series"
mtagctl diff --growth "$tmp/series" >"$tmp/growth"
ok $? "one behind the other they are a series"
kill -CONT $pid
is "$(mtagctl -j show $pid | jq -r 'map(.tag) | join(" ")')" " cache cache/block ingest ingest/index" \
	"the program has its own tags and no other"
kill -KILL $pid
wait $pid 2>/dev/null
rm -f "$tmp"/snap.* "$tmp/out"

MTAG_SNAPSHOT_SIGNAL=USR2 build/examples/ingest --hold 600 "$tmp/text" >"$tmp/out" &
pid=$!
until_true 60 grep -qs touched "$tmp/out"
# A signal just before it sleeps does not end its sleep.
until_true 60 grep -q '^State:.S' /proc/$pid/status
[ ! -e "$tmp/snap.0000.json" ]
ok $? "without an interval there is none unasked"
kill -USR2 $pid
until_true 60 test -s "$tmp/stats.dot"
ok $? "a signal asks for one"
wait $pid
is $? 0 "which the program survives"
is "$(jq 'map(.rss_bytes) | add > 0' "$tmp/stats.json")" true "at its end the statistics are there"
is "$(jq -r '.[0] | keys_unsorted | join(" ")' "$tmp/stats.json")" \
	"$(mtagctl -j show --from "$tmp/snap.0000.json" | jq -r '.[0] | keys_unsorted | join(" ")')" \
	"with the keys of mtagctl"
[ "$(rss_of_all "$tmp/snap.0000.json")" -gt 0 ]
ok $? "and the snapshot, too"
done_testing
