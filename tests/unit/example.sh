#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel test that CONTRIBUTING.md shows builds, is formatted as others are, and skips itself without root.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

sed -n '/^```c$/,/^```$/{/^```/!p}' CONTRIBUTING.md >"$tmp/t_example.c"
${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -pthread -D_GNU_SOURCE -Iinclude -Itests/kernel -o "$tmp/t_example" \
	"$tmp/t_example.c" build/tests/kernel/lib.a build/lib/libmtag.a
ok $? "the example of a kernel test in CONTRIBUTING.md builds"
if [[ $(clang-format --version 2>/dev/null) == *"version 14."* ]]; then
	clang-format --dry-run -Werror --style="file:$PWD/.clang-format" "$tmp/t_example.c"
	ok $? "it is as clang-format leaves it"
else
	skip "it is as clang-format leaves it (no clang-format 14)"
fi
chmod 755 "$tmp" "$tmp/t_example"
setpriv --reuid=65534 --clear-groups "$tmp/t_example" >"$tmp/out"
grep -q '^1\.\.0 # SKIP needs root$' "$tmp/out"
ok $? "it skips itself where root does not run it"
done_testing
