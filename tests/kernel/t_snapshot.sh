#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl snapshot of a running process, rotated, appended to and interrupted; and what completions offer of it.
# vm: short=6.1 because="the files are mtagctl's, and the same on all"
. tests/kernel/lib.sh
ctl=build/bin/mtagctl
tmp=$(mktemp -d)
file=$tmp/samples
trap 'kill "$pid" 2>/dev/null; rm -rf "$tmp"' EXIT

samples() { cat "$@" | grep -c '^{"mtag_snapshot"'; }
# The samples of these files are in the order in which they were taken.
ordered() { cat "$@" | sed -n 's/^{"mtag_snapshot".*"time_ms":\([0-9]*\).*/\1/p' | sort -nc; }
tracked() { $ctl -j show "$pid" 2>/dev/null | grep -q '"comm":"sleep"'; }
# Starts a series without end.
series() { $ctl snapshot -i 0.01 -o "$file" "$pid" >/dev/null 2>&1 & writer=$!; }
some() { [ "$(stat -c %s "$file" 2>/dev/null || echo 0)" -gt 20000 ]; }

$ctl run -t db/cache -- sleep 1000 &
pid=$!
until_true 30 tracked || bail "the process is not tracked"

is "$($ctl complete -- tree "$pid")" "words
$pid	sleep" "completions offer a tracked process with its name"
is "$($ctl complete -- run -t db/c)" "words
db/cache" "and its tags"

check "a series is taken" $ctl snapshot -i 0.01 -n 40 -o "$file" -m 4K -k 100 "$pid"
[ "$(ls "$tmp" | wc -l)" -gt 4 ]
ok $? "into several files"
is "$(find "$tmp" -size +4096c)" "" "none is larger than it may be"
mapfile -t files < <(ls -v "$tmp"/samples.* | tac)
is "$(samples "${files[@]}" "$file")" 40 "no sample is lost"
check "they are in order" ordered "${files[@]}" "$file"
check "and can be read as a series" $ctl diff --growth "${files[@]}" "$file"
rm "$tmp"/*
check "with few files to keep" $ctl snapshot -i 0.01 -n 40 -o "$file" -m 4K -k 2 "$pid"
is "$(cd "$tmp" && echo *)" "samples samples.1 samples.2" "there are no more of them"
rm "$tmp"/*
check "a sample is taken" $ctl snapshot -o "$file" "$pid"
check "another one is appended" $ctl snapshot -o "$file" "$pid"
is "$(samples "$file")" 2 "then there are two"
is "$($ctl show -j --from "$file" | sed 's/"rss_bytes.*//')" "$($ctl show -j "$pid" | sed 's/"rss_bytes.*//')" \
	"show prints the process of the file as it prints the live one"

series
check "a series without end goes on" until_true 60 some
kill -INT "$writer"
wait "$writer"
is $? 0 "until it is interrupted"
check "it then has whole samples" $ctl diff --growth "$file"
rm "$file"
series
until_true 60 some
kill -KILL "$writer"
wait "$writer" 2>/dev/null
if $ctl diff --growth "$file" >/dev/null 2>&1; then
	check "what was whole when the writer was killed is appended to" $ctl snapshot -o "$file" "$pid"
else
	! $ctl snapshot -o "$file" "$pid" 2>/dev/null
	ok $? "what was not whole when the writer was killed is not appended to"
fi
# A pipe that nobody reads from takes no sample, which cannot be completed then.
mkfifo "$tmp/pipe"
$ctl snapshot -i 0.01 -o "$tmp/pipe" "$pid" >/dev/null 2>&1 &
writer=$!
waits() { grep -q fifo "/proc/$writer/wchan" || [[ $(cat "/proc/$writer/stack") == *wait_for_partner* ]]; }
check "a series waits for who reads its pipe" until_true 30 waits
# The same signal twice is one until it has been taken.
ended() { ! kill -INT "$writer" 2>/dev/null; }
check "and is ended by signals" until_true 30 ended || kill -KILL "$writer"
kill "$pid"
wait "$pid" 2>/dev/null
pid=''
done_testing
