#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/vm/compare names what a kernel changed for mtag: all by which our lists differ from one kernel to the next, what
# had to be changed for 7.3, and changes that are planted. The oldest and the newest kernel of the lists are prepared if
# need be; those between are compared if they are in the cache.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
# shellcheck source=tests/vm/offered.sh
. tests/vm/offered.sh
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mtag/kernels
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mtag-compare.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# says STATUS OLD NEW NAME: a comparison ends so; its output is left in $tmp/out.
says() {
	tests/vm/compare --no-source "$2" "$3" >"$tmp/out" 2>&1
	is $? "$1" "$4" || sed 's/^/# /' "$tmp/out"
}

mapfile -t listed < <(printf '%s\n' kmod/compat/functions-[0-9]*.h | sed 's/.*functions-//; s/\.h$//' | sort -V)
for kernel in "${listed[0]}" "${listed[-1]}"; do
	kernel_offered "$kernel" --no-module || skip_all "$no_longer"
done
kernels=()
for kernel in "${listed[@]}" 6.12-rt; do
	[ ! -f "$cache/$kernel/key" ] || kernels+=("$kernel" "$cache/$kernel")
done

says 2 6.1 6.0 "an unknown kernel is refused"
grep -q "unknown kernel '6.0'; known: 6.1 " "$tmp/out"
ok $? "the message names the known ones" || sed 's/^/# /' "$tmp/out"
says 0 "${listed[-1]}" "${listed[-1]}" "a kernel has not changed since itself"
if ! kernel_offered 7.2 --no-module || ! kernel_offered 7.3 --no-module; then
	skip "$no_longer"
else
	says 1 7.2 7.3 "7.3 changed something since 7.2"
	for what in 'hook mmap_region' 'hook swap_read_folio' 'assumption: the address of an anonymous page'; do
		sed -n '/^Must/,/^Look/p' "$tmp/out" | grep -q "^  $what:"
		ok $? "of 7.3 it is found by itself: $what" || sed 's/^/# /' "$tmp/out"
	done
fi
PYTHONDONTWRITEBYTECODE=1 python3 tests/vm/comparing/check.py kmod "${kernels[@]}" >"$tmp/check" || :
while read -r result; do
	case $result in
	'ok '*) ok 0 "${result#* - }" ;;
	'not ok '*) ok 1 "${result#* - }" ;;
	'#'*) echo "$result" ;;
	esac
done <"$tmp/check"
grep -q '^1\.\.' "$tmp/check"
ok $? "the comparison of $((${#kernels[@]} / 2)) kernels comes to its end"
done_testing
