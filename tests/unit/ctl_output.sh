#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Where mtagctl -o writes: a link to nothing leads to a file like any other, and what the shell has redirected is not
# replaced. And what samples that another program has written make of it.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
ctl=$PWD/build/bin/mtagctl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
export LC_ALL=C.UTF-8

# sample TIME_MS KEYS [ID PARENT TAG]: of process 1 with a tag of 8 KiB.
sample() {
	echo '{"mtag_snapshot":1,"time_ms":'"$1"'}'
	printf '{"pid":1,"comm":"c","id":%d,"parent_id":%d,"tag":"%s","rss_bytes":8192,"anon_bytes":8192,%s%s}\n' \
		"${3:-2}" "${4:-0}" "${5:-a}" "$2" '"file_bytes":0,"shmem_bytes":0,"swap_bytes":0,"peak_rss_bytes":8192'
	[ -n "${3:-}" ] || echo '{"end":1}'
}
# fails PATTERN WORD…
fails() {
	local pattern=$1
	shift
	"$ctl" "$@" >out 2>err
	is $? 2 "status 2: $pattern"
	grep -q "^mtagctl: $pattern" err && [ ! -s out ]
	ok $? "and says so" || sed 's/^/# /' err
}

sample 1 '' >one
{ cat one; echo '{'; } >bad
echo 'tag s/a/b/' >rules
mkdir there
ln -s ../there/file there/second
ln -s there/second link
"$ctl" merge -r rules -o link bad 2>err
is $? 2 "merge of a bad file fails"
is "$(ls there)" second "of which nothing is left behind a link to nothing"
check "merge of a good one does not" "$ctl" merge -r rules -o link one
is "$(stat -c '%a %F' there/file link | xargs)" "600 regular file 777 symbolic link" "the file is its owner's, behind links that stay"
ln -s circle circle
"$ctl" show -f folded -o circle --from one 2>err
is "$? $(cat err)" "2 mtagctl: cannot write 'circle': Too many levels of symbolic links" "a link in a circle is refused"
{ echo before; "$ctl" show -f folded -o /dev/stdout --from one; echo behind; } >log
is "$(xargs <log)" "before c-1;a 8192 behind" "/dev/stdout is written to where the shell is, and not replaced"

{ sample 1 '' 1 0 '[ksm]'; sample 1 '' 2 1 '[ksm]/x' | tail -n +2; } >below
fails 'below: line 3: \[ksm\] has nothing below it' show --from below
sample 1 '"lost":-5,' >negative
fails 'negative: line 2: "lost" is missing or wrong' show --from negative

# Hourly, over the end of daylight saving time: each tick is a midnight, and two days from the next.
for ((hour = 0; hour < 13 * 24; hour++)); do
	sample $(((1792450800 + hour * 3600) * 1000)) ''
done >autumn
is "$(TZ=Europe/Berlin "$ctl" show -f html --from autumn | grep -o 'middle">2026[^<]*<' | head -n 6 | tr -dc '0-9\n-' | xargs)" \
	"2026-10-22 2026-10-24 2026-10-26 2026-10-28 2026-10-30 2026-11-01" "ticks of days stay at midnight, whatever the clock does"
done_testing
