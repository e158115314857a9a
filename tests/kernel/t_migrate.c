// SPDX-License-Identifier: GPL-2.0
/* Rule 2: the owner follows the contents to another page frame, by compaction and by soft-offlining. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
#include "lib/test.h"

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif
#define N     4096
#define TRIES 10

static mtag_t a, b, w;
static uint64_t was[N], is_now[N];

static size_t moved(const char *p)
{
	size_t n = 0;

	pagemap(p, N, is_now);
	for (size_t i = 0; i < N; i++)
		if ((is_now[i] & PAGEMAP_PRESENT) && (was[i] & PAGEMAP_PRESENT) &&
		    (is_now[i] & PAGEMAP_PFN) != (was[i] & PAGEMAP_PFN))
			n++;
	return n;
}

static bool compact(const char *p)
{
	spew("/proc/sys/vm/compact_memory", "1");
	return moved(p) > 0;
}

/* Every fourth page of a, every fourth of b; between them holes that compaction likes to fill. */
static char *sieve(void)
{
	char *p = area(N * PG);

	touch(0, p, N * PG);
	must(madvise(p, N * PG, MADV_DONTNEED));
	for (size_t i = 0; i < N; i++)
		touch(i % 4 == 0 ? a : i % 4 == 2 ? b : w, p + i * PG, PG);
	for (size_t i = 1; i < N; i += 2)
		must(madvise(p + i * PG, PG, MADV_DONTNEED));
	return p;
}

static void intact(const char *when)
{
	is(anon_of(a), N / 4 * PG, "%s: tag a has its pages", when);
	is(anon_of(b), N / 4 * PG, "%s: tag b has its pages", when);
	is(anon_of(w), 0, "%s: no one else has any", when);
	exact("%s: exact", when);
}

static void compaction(void)
{
	char *p = sieve();
	int tries = 0;

	intact("before compaction");
	pagemap(p, N, was);
	/* What did not move then does not, however often it is asked. */
	while (tries < TRIES && !compact(p))
		tries++;
	if (tries < TRIES)
		diag("%zu pages moved", moved(p));
	else
		skip("compaction moves pages of the area (it moved none in %d tries)", TRIES);
	intact("after compaction");
	in_child {
		intact("in a child");
		pagemap(p, N, was);
		spew("/proc/sys/vm/compact_memory", "1");
		intact("in a child, after compaction of shared pages");
		touch(w, p, PG);
		intact("in a child that copied");
	}
	for (size_t i = 0; i < N; i += 4)
		must(munmap(p + i * PG, PG));
	is(anon_of(a), 0, "munmap of one tag's pages ends them, wherever they are now");
	is(anon_of(b), N / 4 * PG, "and no others");
	must(munmap(p, N * PG));
	is(anon_of(b), 0, "munmap of the rest ends it");
}

static void soft_offline(void)
{
	char *p = area(N * PG);
	size_t asked = 0;

	for (size_t i = 0; i < N; i++)
		touch(i % 2 ? b : a, p + i * PG, PG);
	must(madvise(p, N / 2 * PG, MADV_DONTNEED));
	pagemap(p, N, was);
	for (size_t i = N / 2; i < N / 2 + 32; i++)
		if (!madvise(p + i * PG, PG, MADV_SOFT_OFFLINE))
			asked++;
	if (!asked) {
		skip("soft-offlining keeps owners (this kernel cannot: %s)", strerror(errno));
		must(munmap(p, N * PG));
		return;
	}
	ok(moved(p) >= asked, "every soft-offlined page moved (%zu of %zu)", moved(p), asked);
	intact("after soft-offlining");
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(b), 0, "nothing is left");
}

static atomic_bool stop;

static void *compactor(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop))
		spew("/proc/sys/vm/compact_memory", "1");
	return NULL;
}

/* Compaction while pages come and go, are copied and forked. */
static void while_busy(void)
{
	char *p = area(N * PG);
	pthread_t thread;
	uint64_t before = vmstat("pgmigrate_success");

	if (pthread_create(&thread, NULL, compactor, NULL))
		bail("thread");
	for (int round = 0; round < 6; round++) {
		for (size_t i = 0; i < N; i++)
			touch(i % 2 ? b : a, p + i * PG, PG);
		for (size_t i = 0; i < N; i += 8)
			must(madvise(p + i * PG, 2 * PG, MADV_DONTNEED));
		if (round % 3 == 0) {
			in_child {
				touch(w, p + 4 * PG, 2 * PG);
				must(munmap(p, N * PG));
				if (anon_of(a) + anon_of(b))
					ok(false,
					   "round %d: a child that unmapped all has nothing left",
					   round);
			}
		}
		must(madvise(p, N / 2 * PG, MADV_DONTNEED));
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	diag("%" PRIu64 " pages migrated meanwhile", vmstat("pgmigrate_success") - before);
	is(anon_of(a), N * 3 / 16 * PG, "after compaction under load tag a has its pages");
	is(anon_of(b), N * 3 / 16 * PG, "and tag b");
	exact("and all is exact");
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(b) + anon_of(w), 0, "nothing is left");
}

/* Moves pages to a second node, where the machine has one. */
static void nodes(void)
{
	char *p;
	void *address[64];
	int node[64], status[64];

	if (access("/sys/devices/system/node/node1", F_OK)) {
		diag("one node only: move_pages is not tried");
		return;
	}
	p = area(64 * PG);
	touch(a, p, 64 * PG);
	for (int i = 0; i < 64; i++) {
		address[i] = p + i * PG;
		node[i] = 1;
	}
	is(syscall(SYS_move_pages, 0, 64, address, node, status, 2), 0,
	   "move_pages to another node");
	owns(a, p, 64 * PG, "its pages keep their owner");
	exact("and all is exact");
	must(munmap(p, 64 * PG));
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("worker");
	spew("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "1000000");
	compaction();
	soft_offline();
	while_busy();
	nodes();
	return end_test();
}
