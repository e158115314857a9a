#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The cgroup of a process, as the kernel has it, is in snapshots and metrics; of a stopped process these have the
# bytes that JSON has.
. tests/kernel/lib.sh
tmp=$(mktemp -d)
no_khugepaged
mkdir "$tmp/cgroup"
mount -t cgroup2 none "$tmp/cgroup" || bail "there is no cgroup v2"
finish() {
	kill -CONT "$TAGGER_PID" 2>/dev/null
	kill "$TAGGER_PID" 2>/dev/null
	until_true 10 rmdir "$group" 2>/dev/null
	umount "$tmp/cgroup"
	rm -rf "$tmp"
}
trap finish EXIT
group="$tmp/cgroup/mtag \"x\""
mkdir "$group"

coproc TAGGER { exec $bin/tagger outlive; }
read -r line <&"${TAGGER[0]}"
echo >&"${TAGGER[1]}"
read -r line <&"${TAGGER[0]}"
pid=$TAGGER_PID
echo "$pid" >"$group/cgroup.procs"
kill -STOP "$pid"
path=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")

build/bin/mtagctl snapshot -o "$tmp/snapshot" "$pid"
is "$(jq -r 'select(.pid) | .cgroup' "$tmp/snapshot" | sort -u)" "$path" "a snapshot has the cgroup of a process"
build/bin/mtagctl show -j "$pid" >"$tmp/json"
# metrics WORD…: a line for each tag and class, as JSON
metrics() {
	build/bin/mtagctl show -f openmetrics "$@" |
		sed -n '/^mtag_rss_bytes{/{s/^[^{]*{\(.*\)} \(.*\)$/{\1,bytes="\2"}/; s/\([a-z]*\)=/"\1":/gp}'
}
for source in "$pid" "--from $tmp/snapshot"; do
	# shellcheck disable=SC2086
	metrics $source | jq -c '[.cgroup, .tag, .class, (.bytes | tonumber)]' | sort >"$tmp/got"
	jq -c --arg cgroup "$path" '.[] | . as $tag | ("anon", "file", "shmem") |
		[$cgroup, if $tag.tag == "" then "[untagged]" else $tag.tag end, ., $tag[. + "_bytes"]]' "$tmp/json" |
		sort >"$tmp/want"
	check "each byte of the metrics of ${source%% *} is what JSON says" diff "$tmp/got" "$tmp/want"
done
[ "$(wc -l <"$tmp/want")" -gt 6 ]
ok $? "there are tags"
done_testing
