#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The account of RSS of programs that know nothing of mtag, whose memory is of many kinds: a compiler with a collector of
# its own, a database that forks, a heap full of holes, node. And those whose allocator nothing can come between: they get
# a sentence.
# vm: timeout=400 short=6.1 because="what the allocators do is the same on all; what pages do is seen by t_heap_view.sh" args=fragments neighbours compiler without
# vm: group=heap-programs mem=2G timeout=900 long=1 args=postgres node
. tests/kernel/lib.sh
. tests/kernel/heaps.sh
. tests/kernel/postgres.sh
tmp=$(mktemp -d)
PATH=$PWD/build/bin:$PATH
export LC_ALL=C.UTF-8 COLUMNS=80
# The command by which a program is started as another user.
as=()
trap 'pkill -9 -P $$; rm -rf "$tmp"' EXIT
no_khugepaged

# under COMMAND…: starts it under mtagctl run --heap; its process is $started.
under() {
	"${as[@]}" mtagctl run --heap -- "$@" >"$tmp/out" 2>&1 </dev/null &
	started=$!
}
end() { kill -9 "$@" 2>/dev/null; wait "$@" 2>/dev/null; }
says() { grep -q "$1" "$tmp/out"; }

# keeps PID MIB: that much is kept by the allocator, as far as the library knows.
keeps() { mtagctl heap -j -o "$tmp/json" "$1" && [ "$(of retained_bytes)" -ge $(($2 << 20)) ]; } 2>/dev/null

# Seven of eight objects are freed: what is alive is little, what is resident much.
fragments() {
	cat >"$tmp/fragments.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		#define N 65536
		static char *p[N];
		int main(void)
		{
			for (int i = 0; i < N; i++) p[i] = memset(malloc(1000), 1, 1000);
			for (int i = 0; i < N; i++) if (i % 8) free(p[i]);
			puts("ready"); fflush(stdout);
			/* The library asks the allocator when something comes or goes. */
			for (;;) { free(memset(malloc(1 << 16), 1, 1 << 16)); usleep(100000); }
		}
	END
	gcc -O1 -fno-builtin "$tmp/fragments.c" -o "$tmp/fragments" || bail "no compiler"
	MTAG_HEAP_PERIOD=32768 under "$tmp/fragments"
	until_true 60 says ready || bail "not ready: $(cat "$tmp/out")"
	# Not before what asking has cost is paid for by time, a thousand times as long.
	until_true 240 keeps "$started" 40
	ok $? "fragments: the allocator is asked what it keeps"
	accounted fragments "$started"
	within fragments rss_bytes 64 72
	within fragments rss_live_bytes 5 11
	# 56 MiB are free, less what changed since the allocator was asked.
	within fragments rss_free_bytes 40 58
	within fragments rss_own_bytes 0 16
	# It has but one thread, and no object that is large.
	is "$allocators" "$(smaps_kinds "$started" | cut -d ' ' -f 4)" "fragments: and together they are [heap], as smaps has it"
	is "$(jq '.[] | select(.tag == "") | .wasted_bytes > 50000000 and .asked_bytes < 12000000' "$tmp/json")" true \
		"fragments: what is wasted is more than what is alive"
	end "$started"
}

# A large object with the stack of a thread that sleeps right below it, which kernels before 6.7 make one mapping of; and
# memory that begins where a heap of glibc's might, and is none; beside one that is.
neighbours() {
	local near
	cat >"$tmp/neighbours.c" <<-'END'
		#include <pthread.h>
		#include <stdint.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		/* Its own heap, of which nearly all is free again. */
		static void *sleeper(void *arg)
		{
			static char *p[4096];
			for (int i = 0; i < 4096; i++) p[i] = memset(malloc(1000), 1, 1000);
			for (int i = 0; i < 4095; i++) free(p[i]);
			puts("ready"); fflush(stdout);
			pause();
			return arg;
		}
		int main(void)
		{
			const size_t heap = 64 << 20;
			pthread_t thread;
			char *large, *p;
			/* Apart from large, with which it would be one mapping, which the allocator uses. */
			p = mmap(NULL, 3 * heap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			p = (char *)(((uintptr_t)p + heap) & ~(heap - 1));
			if (mprotect(p, heap, PROT_READ | PROT_WRITE)) return 1;
			memset(p, 1, 20 << 20);
			large = memset(malloc(20 << 20), 1, 20 << 20);
			if (pthread_create(&thread, NULL, sleeper, NULL)) return 1;
			pause();
			free(large);
			return 0;
		}
	END
	gcc -O1 -fno-builtin -pthread "$tmp/neighbours.c" -o "$tmp/neighbours" || bail "no compiler"
	under "$tmp/neighbours"
	until_true 60 says ready || bail "not ready: $(cat "$tmp/out")"
	accounted neighbours "$started"
	within neighbours rss_live_bytes 20 21
	within neighbours rss_stacks_bytes 0 1
	within neighbours rss_other_bytes 20 21
	near=$(($(of rss_free_bytes) + $(of rss_own_bytes)))
	[ $near -ge $((3 << 20)) ] && [ $near -le $((6 << 20)) ]
	ok $? "neighbours: the heap of a thread is glibc's, from 3 to 6 MiB ($near bytes)"
	is "$(jq '.[] | select(.tag == "") | .untouched_bytes < 65536' "$tmp/json")" true \
		"neighbours: no object is taken for a stack, which would leave it without pages"
	end "$started"
}

# cc1: the collector has its memory from mmap(). Where a large object of the heap lies beside it, the kernel has made one
# mapping of both, and which part of that is the heap nobody knows.
works() {
	cc1=$(pgrep -P "$started" cc1) && [ "$(awk '$1 == "RssAnon:" {print $2}' "/proc/$cc1/status")" -ge $((24 << 10)) ]
} 2>/dev/null
compiler() {
	local i near
	for ((i = 0; i < 4000; i++)); do
		echo "int f$i(int n, const char *s) { int t = $i; for (int i = 0; i < n; i++) { if (s[i] == 'x') t += i * $i;" \
			"else t ^= s[t]; } return t ? t : f$((i ? i - 1 : 0))(n - 1, s + 1); }"
	done >"$tmp/large.c"
	under gcc -O1 -c "$tmp/large.c" -o "$tmp/large.o"
	until_true 60 works || bail "cc1 does not work: $(cat "$tmp/out")"
	accounted cc1 "$cc1"
	within cc1 rss_live_bytes 0 60
	near=$(($(of rss_other_bytes) + $(of rss_own_bytes)))
	[ $near -ge $((8 << 20)) ] && [ $near -le $((200 << 20)) ]
	ok $? "cc1: what its collector has is from 8 to 200 MiB ($near bytes)"
	within cc1 rss_files_bytes 4 60
	[ "$(of seen)" -gt 0 ]
	ok $? "cc1: allocations come by"
	end "$cc1" "$started"
}

# A backend has what it was forked with, and goes on with that.
postgres() {
	local backend as
	postgres_works "$tmp/out" under || return
	accounted "PostgreSQL's backend" "$backend"
	within "PostgreSQL's backend" rss_live_bytes 0 30
	within "PostgreSQL's backend" rss_shared_bytes 1 40
	within "PostgreSQL's backend" rss_files_bytes 2 40
	within "PostgreSQL's backend" rss_other_bytes 0 16
	kill -CONT "$backend"
	kill -INT "$started"
	wait "$started"
}

# What JavaScript has is in a heap of V8's own.
node() {
	[ -x /usr/bin/node ] || { skip "node's heap (not installed)"; return; }
	cat >"$tmp/work.js" <<-'END'
		const kept = [];
		for (let i = 0; i < 60000; i++) kept.push({id: i, name: 'row ' + i, cells: [i, i * 2, i * 3]});
		kept.push(Buffer.alloc(8 << 20, 'x'));
		console.log('ready');
		setInterval(() => kept.length, 1 << 30);
	END
	under /usr/bin/node "$tmp/work.js"
	until_true 100 says ready
	ok $? "node works" || { sed 's/^/# /' "$tmp/out"; return; }
	accounted node "$started"
	within node rss_live_bytes 8 60
	within node rss_other_bytes 4 200
	within node rss_files_bytes 10 100
	end "$started"
}

# Programs whose allocator is their own: told when they start, if that can be known, and when they are asked for.
without() {
	local source=tests/kernel/heaps/own_allocator.c
	gcc -O1 -fno-builtin -DOWN "$source" -o "$tmp/own" && gcc -O1 -fno-builtin -static "$source" -o "$tmp/static" &&
		gcc -O1 -fno-builtin -DOWN -DPARTLY "$source" -o "$tmp/partly" || bail "no compiler"
	under "$tmp/own"
	until_true 60 says ready || bail "not ready: $(cat "$tmp/out")"
	accounted "an allocator of its own" "$started"
	is "$(of seen)" 0 "an allocator of its own: no allocation has come by"
	is "$(of rss_live_bytes)" 0 "an allocator of its own: nothing is known to be alive"
	within "an allocator of its own" rss_data_bytes 0 1
	is "$(tail -2 "$tmp/table" | tr '\n' ' ')" "No allocation has come by: the program has an allocator of its own, and only that knows its objects. " \
		"an allocator of its own: a sentence says so"
	end "$started"

	# It lacks a function, which comes from the C library.
	under "$tmp/partly"
	until_true 60 says ready || bail "not ready: $(cat "$tmp/out")"
	accounted "a part of an allocator" "$started"
	[ "$(of seen)" -gt 0 ]
	ok $? "a part of an allocator: some objects have come by"
	is "$(of own_allocator)" true "a part of an allocator: others have not"
	is "$(tail -2 "$tmp/table" | tr '\n' ' ')" "Objects may be missing: the program has an allocator of its own, and only that knows all of them. " \
		"a part of an allocator: a sentence says so"
	end "$started"

	under "$tmp/static"
	until_true 60 says ready || bail "not ready: $(cat "$tmp/out")"
	is "$(head -1 "$tmp/out")" "mtagctl: run: $tmp/static is linked statically: no library can come between it and its allocator, and there will be no heap view" \
		"a static program: said when it starts"
	is "$(mtagctl heap "$started" 2>&1)" "mtagctl: process $started has no heap view: its program is linked statically, so that no library can come between it and its allocator; ask that for a profile of its own" \
		"a static program: and when it is asked for"
	mtagctl heap "$started" >/dev/null 2>&1
	is $? 2 "a static program: with an exit status"
	is "$(mtagctl show -j "$started" | jq '.[].rss_bytes // .rss_bytes' | head -1 | grep -c '[1-9]')" 1 "a static program: it is tracked nevertheless"
	end "$started"
}

[ $# -gt 0 ] || set -- fragments neighbours compiler without postgres node
for program; do $program; done
done_testing
