#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program written for malloc-tag runs on libmtag, with the sums right that malloc-tag gets wrong.
# vm: short=6.1 because="the library's work is the same on all" timeout=200
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
no_khugepaged

build/tests/kernel/malloc_tag "$tmp" >"$tmp/out"
ok $? "the program's own checks hold"
sed 's/^/# /' "$tmp/out"
jq -e '."tree_for_TID\(.PID)"."scope_malloc_tag".nestedScopes."scope_Class::function".nestedScopes.scope_below' \
	"$tmp/stats.json" >"$tmp/scope"
ok $? "jq finds a nested scope where malloc-tag has it"
is "$(jq 'has("nCallsTo_malloc") or has("nBytesSelfFreed")' "$tmp/scope")" false "what cannot be known is absent"
is "$(jq '([.. | objects | .nBytesSelfAllocated? // empty] | add) <= .nTotalNetTrackedBytes' "$tmp/stats.json")" \
	true "the scopes are not more than the process"

# own FILE: what the scope of the main thread has itself.
own() { jq '."tree_for_TID\(.PID)".scope_malloc_tag.nestedScopes.scope_grows.nBytesSelfAllocated' "$1"; }
MTAG_SNAPSHOT_INTERVAL_SEC=2 MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH=$tmp/live build/tests/kernel/malloc_tag >"$tmp/out"
ok $? "snapshots are written as the environment says"
sed 's/^/# /' "$tmp/out"
is "$(cd "$tmp" && echo live*)" "live.0000.dot live.0000.json live.0001.dot live.0001.json" "in files with numbers"
is "$(($(own "$tmp/live.0001.json") - $(own "$tmp/live.0000.json")))" $((4 << 20)) \
	"the second one has the 4 MiB more that the program has touched meanwhile"
env -u MTAG_SNAPSHOT_INTERVAL_SEC MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH="$tmp/never" build/tests/kernel/malloc_tag >"$tmp/out"
grep -q '^not ok 1 ' "$tmp/out" && [ ! -e "$tmp/never.0000.json" ]
ok $? "without an interval there are none"
LD_PRELOAD=$PWD/build/lib/libmtag-heap.so MTAG_HEAP=exact build/tests/kernel/malloc_tag_heap >"$tmp/out"
ok $? "with libmtag-heap there are malloc-tag's own figures"
sed 's/^/# /' "$tmp/out"
done_testing
