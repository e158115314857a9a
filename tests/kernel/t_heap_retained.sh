#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What mtagctl heap says that an allocator keeps free, against two others who know: the allocator, asked in another way, and
# the kernel, of which the program's RSS is read before and after the allocator gives back all that it can. Before that, and
# when nothing more is to be given back:
# - it is what the allocator says: of tcmalloc to the byte; of glibc within one for each free chunk, as malloc_info(3)
#   counts a flag with its size; of jemalloc within what that needs for itself on its pages;
# - it is at least what the kernel gets back, and at most that and what does not fill whole pages;
# - what the account has as free at most is no less than what the kernel gets back, and what it has at least no more,
#   but for what does not fill whole pages.
# vm: timeout=600 short=6.1 because="what an allocator keeps is the same on all; that RSS is told exactly is seen by other tests on each"
. tests/kernel/lib.sh
. tests/kernel/heaps.sh
mtagctl=$PWD/build/bin/mtagctl tmp=$(mktemp -d)
trap 'exec 9>&-; pkill -P $$; rm -rf "$tmp"' EXIT
no_khugepaged
mkfifo "$tmp/in"
gcc -std=c11 -D_GNU_SOURCE -O1 -fno-builtin -pthread tests/kernel/heaps/retainer.c -o "$tmp/retainer" -ldl || bail "no compiler"

# Pages of the program's own that come or go meanwhile, and memory at the end of what the allocator has that was never
# touched: with glibc 132 KiB, with others at most a mapping of their own, a MiB.
slack=$((1 << 20))
said() { [ "$(grep -c "^$1" "$tmp/out")" = "$2" ]; }
# between NAME LEAST VALUE MOST
between() {
	[ "$3" -ge "$2" ] && [ "$3" -le "$4" ]
	ok $? "$1" || echo "#   $3 is not from $2 to $4"
}

# begin LIBRARY HOW: the program with that allocator. Sampled so often that there is a sample among the few objects that
# stay in each of its mappings: one without would not be known as the allocator's.
begin() {
	LD_PRELOAD=$1 MTAG_HEAP_PERIOD=4096 $mtagctl run "--heap$2" -- "$tmp/retainer" <"$tmp/in" >"$tmp/out" 2>&1 &
	pid=$!
	exec 9>"$tmp/in"
}
end() {
	exec 9>&-
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}

# asked NAME: the allocator was asked by the library and in another way, one right after the other. What asking costs has to
# be paid by time, a thousand times as long: on a slow machine a second is not enough.
asked() {
	local before end=$((SECONDS + 240))
	while [ $SECONDS -lt $end ]; do
		before=$EPOCHREALTIME asks=$((asks + 1))
		echo ask >&9
		until_true 60 said ready $asks || bail "$1: not ready: $(cat "$tmp/out")"
		$mtagctl heap -j -o "$tmp/json" "$pid" || return
		# It has slept for 1.5 s since.
		! awk -v age="$(of retained_age_seconds)" -v before="$before" -v now="$EPOCHREALTIME" \
			'BEGIN {exit age > now - before - 1.4}' || return 0
	done
	echo "# the allocator is not asked: $(of retained_age_seconds) s"
	return 1
}

# keeps NAME LIBRARY ROOM HOW: the allocator's word agrees within so many bytes.
keeps() {
	local name room=$3 round says stuck kept back asks=0
	begin "$2" "${4:-}"
	until_true 60 said filled 1 || bail "$1: it does not begin: $(cat "$tmp/out")"
	for round in 1 2; do
		name="$1, $(if [ $round = 1 ]; then echo before; else echo after; fi) it gives back"
		asked "$name"
		ok $? "$name: the allocator is asked, and heap prints JSON"
		read -r says stuck < <(sed -n 's/^ready //p' "$tmp/out" | tail -n 1)
		kept=$(of retained_bytes)
		echo release >&9
		until_true 60 said released $round || bail "$name: it does not give back: $(cat "$tmp/out")"
		back=$(sed -n 's/^released //p' "$tmp/out" | tail -n 1)
		echo "# $name: kept $kept, says $says, back $back, stuck $stuck, free $(of rss_free_least_bytes) to $(of rss_free_bytes)"
		between "$name: what is kept is what it says" $((says - room)) "$kept" $((says + room))
		between "$name: the kernel gets back no more than that" 0 "$back" $((kept + slack))
		[ $round = 2 ] ||
			between "$name: and no less, but for parts of pages" $((kept - stuck - slack)) "$back" $((kept + slack))
		between "$name: what is free is no less" "$back" $(($(of rss_free_bytes) + slack)) $((1 << 40))
		between "$name: and at least no more, but for parts of pages" "$(of rss_free_least_bytes)" $((back + stuck + slack)) $((1 << 40))
		is "$(of lost_samples)" 0 "$name: no sample is lost"
	done
	end
}
# library NAME: its file.
library() { ldconfig -p | sed -n "s/^	\($1\.so\.[0-9]*\) .*/\1/p" | head -n 1; }

keeps glibc '' 256
keeps 'glibc, counted' '' 256 =exact
for allocator in 'libjemalloc 262144' 'libtcmalloc_minimal 0'; do
	name=${allocator% *} file=$(library "${allocator% *}")
	if [ -z "$file" ]; then skip "$name (not installed)"; else keeps "$name" "$file" "${allocator#* }"; fi
done
file=$(library libmimalloc)
if [ -n "$file" ]; then
	begin "$file" ''
	echo ask >&9
	until_true 60 said ready 1 || bail "mimalloc: not ready: $(cat "$tmp/out")"
	check "mimalloc: heap prints JSON" $mtagctl heap -j -o "$tmp/json" "$pid"
	is "$(of allocator) $(of retained_bytes) $(of rss_free_bytes)" '"mimalloc" null 0' "mimalloc does not tell, and nothing is made up"
	end
else
	skip "mimalloc (not installed)"
fi
done_testing
