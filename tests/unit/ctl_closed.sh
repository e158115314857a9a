#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl with standard descriptors closed: no file that it opens takes their place.
cd "$(dirname "$(realpath "$0")")/../.." || exit
ctl=$PWD/build/bin/mtagctl
n=0
export LC_ALL=C.UTF-8
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit

ok() { # NAME, after the command that is tested
	local status=$?
	n=$((n + 1))
	[ $status = 0 ] && echo "ok $n - $1" || echo "not ok $n - $1"
}

tag() { echo "{\"pid\":7,\"comm\":\"make\",\"id\":0,\"tag\":\"\",\"parent_id\":0,\"rss_bytes\":4096,\"anon_bytes\":4096,\
\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,\"peak_rss_bytes\":4096}"; }
{
	echo '{"mtag_snapshot":2,"time_ms":5}'
	tag
	echo '{"pid":7,"id":0,"stack":[{"function":"[before]"}],"anon_bytes":4096,"swap_bytes":0,"complete":false,"why":"before"}'
	echo '{"end":1,"stacks":1}'
} >stacks
echo 'comm s/x/y/' >rules
"$ctl" merge -r rules -o open stacks 2>err && grep -q 'has stacks, which are left out' err
ok 'a merge warns of stacks'
"$ctl" merge -r rules -o closed stacks 2>&- && cmp -s open closed
ok 'with stderr closed the warning is not in the file'
"$ctl" merge -r rules -o closed stacks <&- >&- 2>&- && cmp -s open closed
ok 'nor with all three closed'
"$ctl" help >&- 2>err
[ $? = 2 ] && grep -q '^mtagctl: cannot write the output: Bad file descriptor' err
ok 'output that cannot be written is an error'
"$ctl" help >&- 2>&-
[ $? = 2 ]
ok 'also if that cannot be said'
"$ctl" show --from - <&- 2>err
[ $? = 2 ] && grep -q 'cannot read: Bad file descriptor' err
ok 'and so is input that cannot be read'
"$ctl" show --from stacks <&- >out && grep -q make out
ok 'nobody misses an input that is not wanted'
echo "1..$n"
