#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl events: the end of each process that the shell has seen end; a reader that is too slow is told so, and who is
# left.
# vm: short=6.1,7.3 because="what is told, and to whom, is the same on all" group=parallel mem=1G timeout=300
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'kill %1 %2 2>/dev/null; rm -rf "$tmp"' EXIT
export PATH=$PWD/build/bin:$PATH

has() { jq -e -s "any(.[]; $1)" "$tmp/events" >/dev/null; }

mtagctl run -- sleep 1000 &
sleeper=$!
until_true 30 eval 'mtagctl -j show | jq -e "any(.[]; .comm == \"sleep\")" >/dev/null'
# Without CAP_NET_ADMIN its buffer is the small one that all sockets have.
setpriv --bounding-set=-net_admin mtagctl -j events -a >"$tmp/events" &
events=$!
until_true 30 has '.event == "track" and .caught_up'
ok $? "-a begins with those that are tracked already"

mtagctl run -- bash -c 'for i in {1..50}; do (exit 0) & echo $!; done; wait' | sort >"$tmp/ended"
# once_each: how many of them are told of once, by now.
once_each() {
	jq -r 'select(.event == "exit" and .comm == "bash") | .pid' "$tmp/events" | sort | uniq -c |
		awk '$1 == 1 {print $2}' | comm -12 - "$tmp/ended" | wc -l
}
until_true 30 eval '[ "$(once_each)" = 50 ]'
is "$(once_each)" 50 "50 children that end are told of, once each"

kill -STOP $events
mtagctl run -- python3 -c '
import os
for i in range(600):
    if not os.fork(): os._exit(0)
    os.wait()'
# An mm may live a little longer than its last process, and would be among those that are left.
until_true 60 eval 'visit_cpus; [ "$(health tracked)" = 1 ]'
ok $? "all of them have ended"
kill -CONT $events
until_true 60 has '.event == "overrun"'
ok $? "a reader that is too slow for 600 ends is told that it has missed some"
until_true 60 eval "[ \$(sed '1,/overrun/d' '$tmp/events' | grep -c '\"event\":\"track\"') -ge 1 ]"
is "$(sed '1,/overrun/d' "$tmp/events" | jq -r 'select(.event == "track") | .pid')" "$(pgrep -x sleep)" \
	"and then of the one that is still tracked, as pgrep finds it"

mtagctl limit -t 30 "$sleeper" '[untagged]' 4K >"$tmp/limit"
is $? 3 "a limit that is reached already is told at once"
until_true 30 has '.event == "limit" and .limit_bytes == 4096 and .tag == ""'
ok $? "and the event names it"
kill "$sleeper"
until_true 30 has '.event == "exit" and .pid == '"$sleeper"
ok $? "the sleeper's end comes after the overrun, too"

kill $events
wait $events
setpriv --reuid 65534 --regid 65534 --clear-groups mtagctl events >"$tmp/nobody" 2>&1
is $? 2 "nobody may not listen"
grep -q CAP_SYS_ADMIN "$tmp/nobody"
ok $? "and is told what it takes"
is "$(health drift)" 0 "no counter of those that ended is off"

mtagctl events >"$tmp/last" 2>&1 &
events=$!
until_true 30 grep -q EVENT "$tmp/last"
unload
ok $? "a listener does not keep the module"
timeout 30 tail --pid=$events -f /dev/null
kill $events 2>/dev/null
wait $events
is $? 4 "and ends when that goes"
grep -q 'not loaded' "$tmp/last"
ok $? "saying so"
load linger_ms=3600000
done_testing
