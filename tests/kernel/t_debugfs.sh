#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# debugfs: stats, hooks and health are there for root, in a form that a person and a script can read.
. tests/kernel/lib.sh

lost=$(health lost)
coproc TAGGER { exec $bin/tagger outlive; }
read -r line <&"${TAGGER[0]}"
is "$line" "init 0" "a program attaches"
pid=$TAGGER_PID

for file in stats hooks health; do
	check "$file can be read" grep -q . $debug/$file
	is "$(stat -c %a:%U $debug/$file)" 400:root "$file is root's alone"
	setpriv --reuid 65534 --regid 65534 --clear-groups cat $debug/$file >/dev/null 2>&1
	is $? 1 "user nobody cannot read $file"
	is "$(LC_ALL=C grep -c '[^[:print:][:space:]]' <(iconv -c -f utf-8 -t ascii $debug/$file))" 0 \
		"$file has no control characters"
	grep -Eq '\bffff[89a-f][0-9a-f]{11}\b' $debug/$file
	is $? 1 "$file shows no kernel address"
done

is "$(grep -vcE '^[a-z_]+ [0-9a-z]+$' $debug/health)" 0 "every line of health is a name and a value"
for name in mode installed tracked ended drift lost overflow repairs dirty_ended memory; do
	grep -qE "^$name " $debug/health
	ok $? "health has $name"
done
case $(health mode) in ftrace | kprobes) ok 0 "the mode is one of two" ;; *) ok 1 "the mode is one of two" ;; esac
is "$(health installed)" 1 "with a process attached the hooks are installed"
[ "$(health tracked)" -ge 1 ]
ok $? "it is counted as tracked"
[ "$(health memory)" -gt 0 ]
ok $? "the module's memory is counted"
is "$(health drift)" 0 "no drift"
is "$(health lost)" "$lost" "nothing lost"

calls=$(mktemp)
shown=$(strace -qq -o "$calls" -e trace=sendmsg,sendto mtagctl show -j "$pid")
is "$(grep -c '^send' "$calls")" 2 "a process is shown by two requests: for the family, and for all its numbers"
rm "$calls"
is "$(jq -c 'map(.lost) | unique' <<<"$shown")" "[0]" "what it lost is among them"

grep -q "^$pid tagger" $debug/stats
ok $? "stats shows the process with its name"
echo >&"${TAGGER[1]}"
read -r line <&"${TAGGER[0]}"
is "$line" "init 0 active 1" "it makes tags"
grep -qE '^ *every +[0-9]+ +[0-9]+' $debug/stats
ok $? "stats shows its tags"
grep -qE '^ +scope +[0-9]+' $debug/stats
ok $? "and those below them, indented"

# One page-sized read at a time must give the same as one large read.
dd if=$debug/stats bs=100 status=none 2>/dev/null | awk 'NF' | awk '{print $1}' >/tmp/small
awk 'NF {print $1}' $debug/stats >/tmp/large
cmp -s /tmp/small /tmp/large
ok $? "stats is the same read in small pieces"

eval "exec ${TAGGER[1]}>&-"
wait "$pid"
is $? 0 "the process ends well"
[ -z "$(grep "^$pid " $debug/stats)" ]
ok $? "and is shown no more"
rm -f /tmp/small /tmp/large
done_testing
