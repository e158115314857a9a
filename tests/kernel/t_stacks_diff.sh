#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks in snapshot files: they are what the kernel says, and what grew, and from where, is what the program did.
# vm: short=6.1 because="the file is mtagctl's; what the kernel says of stacks is t_stacks.c's" group=tutorial mem=2G
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null; rm -rf "$tmp"' EXIT
export PATH=$PWD/build/bin:$PATH

# Touches so many new pages for each number that it reads: keeps those of even lines, gives back the others.
cat >"$tmp/grow.c" <<'END'
#include <stdio.h>
#include <sys/mman.h>

static char *touched(long pages)
{
	char *p = mmap(0, pages << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, pages << 12, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		p[i << 12] = 1;
	return p;
}

static void kept(long pages)
{
	touched(pages);
	puts("kept");
}

static void returned(long pages)
{
	munmap(touched(pages), pages << 12);
	puts("returned");
}

int main(void)
{
	long pages;

	setvbuf(stdout, NULL, _IOLBF, 4096);
	puts("begun");
	for (int line = 0; scanf("%ld", &pages) == 1; line++)
		line % 2 ? returned(pages) : kept(pages);
	return 0;
}
END
cc -O1 -g -fno-inline -fno-optimize-sibling-calls -o "$tmp/grow" "$tmp/grow.c" || bail "cc"
mkfifo "$tmp/in"
mtagctl run -t db/cache --stacks -- "$tmp/grow" <"$tmp/in" >"$tmp/out" &
pid=$!
exec 3>"$tmp/in"
has_said() { [ "$(wc -l <"$tmp/out")" -ge "$1" ]; }
lines=1
until_true 60 has_said 1 || bail "the program does not begin"
touch_pages() { # NUMBER…
	for pages; do
		echo "$pages" >&3
		lines=$((lines + 1))
		until_true 60 has_said $lines || bail "no answer"
	done
}
snapshot() { mtagctl snapshot --stacks -o "$tmp/$1" "$pid"; }

touch_pages 5 7
check "a sample with stacks is taken" snapshot a
touch_pages 100 300
snapshot b
touch_pages 1000 20
snapshot c
is "$(head -1 "$tmp/c" | jq .mtag_snapshot)" 2 "its version says that it has stacks"

for form in table json folded; do
	mtagctl stacks -n 1000 -f $form "$pid" >"$tmp/live"
	mtagctl stacks -n 1000 -f $form --from "$tmp/c" "$pid" >"$tmp/saved"
	check "$form: the sample says what the kernel says" cmp "$tmp/live" "$tmp/saved"
done
is "$(mtagctl stacks -j --from "$tmp/c" "$pid" | jq 'map(.anon_bytes) | add')" \
	"$(awk '/^Anonymous:/ {print $2 * 1024}' "/proc/$pid/smaps_rollup")" "its bytes are those of smaps"

mtagctl diff --stacks -j "$tmp/a" "$tmp/c" >"$tmp/diff"
is "$(jq -c 'map(select(.stack | index("returned"))) | length' "$tmp/diff")" 0 "memory that was given back is no growth"
is "$(jq -c '.[0] | [.comm, .tag, .stack[-3:], .anon_delta_bytes]' "$tmp/diff")" \
	'["grow","db/cache",["main","kept","touched"],4505600]' "1100 pages are, from where they came"
is "$(mtagctl diff --stacks --growth -j "$tmp"/[abc] | jq -c 'map([.stack[-2:], .growth_bytes, .steps_grown])')" \
	'[[["kept","touched"],4505600,2]]' "nothing else grew in each step"
mtagctl diff --stacks "$tmp/a" "$tmp/c" | sed -n 2,4p | tr -s ' ' >"$tmp/table"
grep -q '^grow db/cache .* +4.3MiB 0$' "$tmp/table" && sed -n 2p "$tmp/table" | grep -q '^ touched$'
ok $? "the table has the growth, and below it the functions ($(head -2 "$tmp/table" | tr '\n' '|'))"

mtagctl snapshot -o "$tmp/none" "$pid"
fails() { ! "$@" 2>"$tmp/err"; }
check "a sample without stacks has none to show" fails mtagctl stacks --from "$tmp/none"
check "and says so" grep -q 'has no stacks; `mtagctl snapshot --stacks` saves' "$tmp/err"
check "nor to compare" fails mtagctl diff --stacks "$tmp/a" "$tmp/none"
check "and says of which" grep -q "none: sample 2 of those compared has no stacks" "$tmp/err"
for from in '' "--from $tmp/c"; do
	# shellcheck disable=SC2086 # two words or none
	fails mtagctl stacks $from -t no/such "$pid" >"$tmp/said"
	ok $? "a tag that is not there is an error"
	is "$(cat "$tmp/said")$(grep -c 'has no tag' "$tmp/err")" 1 "which is all that is said"
done
exec 3>&-
wait "$pid"

# ---- one first touch in eight ----

# 8,000 pages make 1,000 draws come true, give or take 5 times the root of 8000 * 1/8 * 7/8.
: >"$tmp/out"
mtagctl run --stacks=1/8 -- sh -c '"$0"; :' "$tmp/grow" <"$tmp/in" >"$tmp/out" &
shell=$!
exec 3>"$tmp/in"
lines=1
until_true 60 has_said 1 || bail "the program does not begin"
touch_pages 8000
pid=$(pgrep -x grow)
mtagctl stacks -j "$pid" >"$tmp/sampled"
is "$(jq -c 'map(.one_in) | unique' "$tmp/sampled")" "[8]" "a program that a shell starts has the chance of its run"
is "$(jq 'map(.anon_bytes) | add' "$tmp/sampled")" "$(awk '/^Anonymous:/ {print $2 * 1024}' "/proc/$pid/smaps_rollup")" \
	"what was drawn and what was not is what smaps_rollup says"
drawn=$(jq '[.[] | select(any(.stack[]; .function == "kept")) | .anon_bytes] | add / 4096' "$tmp/sampled")
[ "$drawn" -ge 852 ] && [ "$drawn" -le 1148 ]
ok $? "of 8,000 pages about 1,000 are beneath their stack ($drawn)"
exec 3>&-
wait "$shell"
is "$(health drift)" 0 "no drift"
done_testing
