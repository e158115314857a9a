#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench/judge.awk tells growth from noise, and bench/least.awk takes what was disturbed out of several measurements: with
# rows written here, of each kind that bench/baseline/ has.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/6.1" "$tmp/7.3"

# rows FILE: its lines come on stdin, with ";" for a tab. A line ends in a tab, as no row here has a budget.
rows() { sed 's/;/\t/; s/$/\t/' >"$tmp/$1"; }
# growth KERNEL NAME: how the row of that name in "now" is judged against that kernel's "kept".
growth() {
	awk -F '\t' -f bench/judge.awk "$tmp/$1/kept" "$tmp/now" | awk -F '\t' -v name="$2" '$1 == name { print $6 }'
}
# grows KERNEL NAME KEPT NOW WANT
grows() {
	rows "$1/kept" <<<"$2;$3"
	rows now <<<"$2;$4"
	is "$(growth "$1" "$2")" "$5" "$1, $2: $3, then $4 is $5"
}

# A row that is large beside its noise grows by 4 %, then by 2 %; a small one by more than the noise, then by less.
for kernel in 6.1 7.3; do
	grows $kernel 'first touch, 4 KiB: tracked' +46.6 +48.5 GROWN
	grows $kernel 'first touch, 4 KiB: tracked' +46.6 +47.5 ok
	grows $kernel 'first touch, 4 KiB: untracked' +6.0 +7.1 GROWN
	grows $kernel 'first touch, 4 KiB: untracked' +6.0 +6.9 ok
	grows $kernel 'first touch, 2 MiB: tracked' +382.0 +397.3 GROWN
	grows $kernel 'first touch, 2 MiB: tracked' +382.0 +389.6 ok
	grows $kernel 'unmap, 2 MiB: tracked' +349.2 +363.2 GROWN
	grows $kernel 'copy-on-write: tagged' +195.5 +203.4 GROWN
	grows $kernel 'fork, a page: tracked' -0.1 +1.1 GROWN
	grows $kernel 'exit, a page: untracked' +6.0 +18.5 GROWN
	grows $kernel 'unmap, a shared page, 1,000 ranges: tracked' +86.0 +94.5 GROWN
	grows $kernel 'unmap, a shared page, 1,000 ranges: tracked' +86.0 +88.5 ok
	grows $kernel 'fork, exec and end of /bin/true: tagged' +160000.0 +190500.0 GROWN
	grows $kernel 'fork, exec and end of /bin/true: tagged' +160000.0 +163200.0 ok
	grows $kernel 'fork and end, a small process: untracked' +2000.0 +6100.0 GROWN
	grows $kernel 'first touch, 4 KiB, stack of 20 frames: taken' +3600.0 +3744.0 GROWN
	grows $kernel 'read 1,000 tags' 188156 195682 GROWN
	grows $kernel 'read 1,000 tags' 188156 191919 ok
	grows $kernel 'bytes an account and its tag' 80 84 GROWN
	grows $kernel 'enter and leave' 9.0 10.1 GROWN
	grows $kernel 'sqlite3: tracked, percent' +0.20 +0.71 GROWN
	grows $kernel 'fork of a process with 1,000 tags: 64 against 2 possible CPUs' 1.00 1.04 GROWN
	grows $kernel 'first touch, 4 KiB: none' 3335.6 4000.0 -
done
grows 6.1 'exit, a page: untracked' +6.0 +7.1 GROWN
grows 6.1 'fork, exec and end of /bin/true: tagged' +160000.0 +172500.0 GROWN
grows 6.1 'fork and end, a small process: tracked' +10000.0 +12500.0 GROWN

# within NAME MEASURED BUDGET WANT
within() {
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >"$tmp/now"
	is "$(awk -F '\t' -f bench/judge.awk /dev/null "$tmp/now" | cut -f 4)" "$4" \
		"$1: $2, with a budget of $3, is $4"
}
within 'unmap, 4 KiB: tracked' +40.5 40 ok
within 'unmap, 4 KiB: tracked' +40.6 40 OVER
within 'sqlite3: tracked, percent' +0.21 0.2 OVER
within 'fork of a process with 1,000 tags: 64 against 2 possible CPUs' 1.21 1.2 OVER

# Names that say what was judged, and how.
judged() { awk -F '\t' -f bench/judge.awk "$tmp/6.1/kept" "$tmp/now" | cut -f 1,2,5,6; }
printf '%s\n' 'a: none;1' 'a: tracked;+2' 'b;3' | rows 6.1/kept
printf '%s\n' 'a: none;1' 'a: tagged;+2' 'b;3' | rows now
is "$(judged)" "$(printf '%s\t%s\t%s\t%s\n' 'a: none' 1 1 - 'a: tagged' +2 - NEW b 3 3 ok 'a: tracked' - +2 LOST)" \
	"a renamed row is new, and the old one is lost"

# The second measurement was disturbed without mtag, the third with it.
for i in 1 2 3; do
	case $i in 1) none=1000.0 tagged=+50.0 ;; 2) none=1030.0 tagged=+19.0 ;; 3) none=1000.0 tagged=+70.0 ;; esac
	printf '%s\n' "work: none;$none" "work: tagged;$tagged" "others;$((20 - i))" | rows run$i
done
is "$(awk -F '\t' -f bench/least.awk "$tmp"/run[123] | cut -f 1,2)" \
	"$(printf '%s\t%s\n' 'work: none' 1000.0 'work: tagged' +49.0 others 17)" \
	"a difference is that of the least, not the least one"
done_testing
