#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module through sparse, and with the compiler's further warnings (W=1).
cd "$(dirname "$(realpath "$0")")/../.." || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
headers=$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/mtag/kernels/6.1/lib/modules/*/build 2>/dev/null)
[ -n "$headers" ] && [ -f Kbuild ] || { echo "1..0 # SKIP no kernel headers in the cache"; exit; }
command -v sparse >/dev/null || { echo "1..0 # SKIP no sparse"; exit; }
echo 1..2
failed=0
cp -r Kbuild kmod include "$tmp"
# Only what is said of our own files: the kernel's headers have warnings of their own.
# No debug information: it is a quarter of the work, and nobody reads it.
make -s -C "$headers" M="$tmp" W=1 C=2 CHECK=sparse CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-g0 modules >"$tmp/log" 2>&1 ||
	{ sed 's/^/# /' "$tmp/log"; echo "Bail out! the module does not build"; exit 1; }
report() { # NUMBER NAME PATTERN
	if out=$(grep -E "$3" "$tmp/log" | grep -F "$tmp/"); then
		echo "not ok $1 - $2"
		sed "s|$tmp/||; s/^/# /" <<<"$out"
		failed=1
	else
		echo "ok $1 - $2"
	fi
}
report 1 "sparse has nothing to say" '(warning|error): .*[^]]$'
report 2 "the compiler has nothing to say (W=1)" 'warning: .*\[-W[a-z0-9=-]*\]$'
exit $failed
