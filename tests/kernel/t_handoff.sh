#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tags go with the work: to the threads of a pool, and with coroutines.
# vm: short=6.1 because="the library's work is the same on all"
. tests/kernel/lib.sh
out=$(mktemp)
thp=/sys/kernel/mm/transparent_hugepage/enabled
thp_before=$(sed 's/.*\[\(.*\)\].*/\1/' $thp 2>/dev/null)
trap 'rm -f "$out"; [ -z "$thp_before" ] || echo "$thp_before" >$thp' EXIT
# Where a thread's stack has its first page below a boundary of 2 MiB, that would be a huge one, and the job's.
[ -z "$thp_before" ] || echo never >$thp

check "examples/handoff leaves every thread in the tag that it had" build/examples/handoff
build/examples/handoff >"$out"
plain=$(awk '$1 == "requests/plain" {print $2}' "$out")
echo "# requests/plain: $plain KiB"
# And the stack and data of the C++ library's that the job is the first to touch.
[ "$plain" -ge 2048 ] && [ "$plain" -le 2112 ]
ok $? "a job of a pool runs in the tag of who submits it"
if nm -C build/examples/handoff | grep -q coroutine_request; then
	for name in first second; do
		is "$(awk -v t="requests/$name" '$1 == t {print $2}' "$out")" 4096 \
			"coroutine $name has all that it touched, on every thread"
	done
else
	skip "coroutines (this compiler has none)"
fi
done_testing
