#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs linked with libmtag run without the module, and when it goes away beneath them.
# vm: short=6.1,7.3 because="what a program does without the module is the library's" group=plain module=linger_ms=2000 mem=2G
. tests/kernel/lib.sh

coproc TAGGER { exec $bin/tagger outlive; }
read -r line <&"${TAGGER[0]}"
is "$line" "init 0" "a program attaches"
pid=$TAGGER_PID
$bin/tagger loop 5 &
loop=$!
until_true 30 eval '[ "$(health tracked)" -ge 2 ]'
unload
ok $? "the module can be removed with processes attached and busy"
test ! -e /dev/mtag
ok $? "its device is gone"
echo >&"${TAGGER[1]}"
read -r line <&"${TAGGER[0]}"
is "$line" "init -3 active 0" "the attached program goes on, and is told ESRCH"
wait $loop
is $? 0 "so does the busy one"

$bin/tagger absent >/tmp/absent 2>&1
status=$?
is $status 0 "a program started without the module runs" || sed 's/^/# /' /tmp/absent
is "$(grep -c '^not ok' /tmp/absent)" 0 "with every call a no-op"
for program in build/examples/*; do
	[ -x "$program" ] && [ -f "$program" ] && [[ $program != *.d ]] || continue
	timeout $((60 * ${MTAG_SLOW:-1})) "$program" </dev/null >/dev/null 2>&1
	[ $? -lt 124 ]
	ok $? "${program##*/} does not crash"
done
for test in lib_absent lib_cpp; do
	runs "m32: $test" build/m32/tests/unit/$test
done
mtagctl show >/dev/null 2>&1
is $? 4 "mtagctl show says with status 4 that there is no module"
mtagctl run -- true >/dev/null 2>&1
is $? 4 "so does mtagctl run"
mtagctl doctor >/dev/null 2>&1
[ $? -lt 124 ]
ok $? "mtagctl doctor runs"

load
ok $? "the module loads again"
echo >&"${TAGGER[1]}"
read -r line <&"${TAGGER[0]}"
is "$line" "init -3 active 0" "a program of the old module stays untracked, as its tags mean nothing now"
eval "exec ${TAGGER[1]}>&-"
wait "$pid"
is $? 0 "and ends well"
$bin/tagger numbers >/tmp/numbers 2>&1
is $? 0 "a new one is tracked, exactly" || sed 's/^/# /' /tmp/numbers
is "$(health drift)" 0 "no drift"
rm -f /tmp/absent /tmp/numbers
done_testing
