// SPDX-License-Identifier: GPL-2.0
/* Rule 2: the owner follows the contents to another page frame, by compaction and by soft-offlining. (Between nodes: t_numa.) */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
/* vm: brief=1 timeout=400 */
#include "lib/test.h"

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif
#define KEPT  "/proc/sys/vm/percpu_pagelist_high_fraction"
#define N     4096
#define RUN   128 /* pages */
#define SIEVE (64 * RUN)
#define TRIES 10

static mtag_t a, b, w;
static uint64_t was[SIEVE], is_now[SIEVE];

/* How many of these pages are elsewhere than @was says. */
static size_t moved(const char *p, size_t pages)
{
	size_t n = 0;

	pagemap(p, pages, is_now);
	for (size_t i = 0; i < pages; i++)
		if ((is_now[i] & PAGEMAP_PRESENT) && (was[i] & PAGEMAP_PRESENT) &&
		    (is_now[i] & PAGEMAP_PFN) != (was[i] & PAGEMAP_PFN))
			n++;
	return n;
}

static bool is_hole(size_t page)
{
	return page / RUN % 2;
}

static size_t compact(const char *p)
{
	pagemap(p, SIEVE, was);
	must(compact_memory());
	return moved(p, SIEVE);
}

/* Every second page is a's, every second b's, but for those of holes. */
static void touch_all(char *p, bool holes)
{
	for (size_t i = 0; i < SIEVE; i++)
		if (!is_hole(i))
			touch(i % 2 ? b : a, p + i * PG, PG);
		else if (holes)
			touch(w, p + i * PG, PG);
}

/*
 * Between the runs are holes, into which compaction moves pages from below. Runs, not single pages: compaction looks for
 * a hole at every 32nd frame alone where it found none for a while, and ends where a large folio of the page cache fits
 * into none of those that it found.
 */
static char *sieve(void)
{
	char *p = area(SIEVE * PG);

	touch_all(p, true);
	for (size_t i = RUN; i < SIEVE; i += 2 * RUN)
		must(madvise(p + i * PG, RUN * PG, MADV_DONTNEED));
	return p;
}

static char *another(char *p)
{
	char *q = sieve();

	must(munmap(p, SIEVE * PG));
	return q;
}

static void intact(size_t pages, const char *when)
{
	is(anon_of(a), pages / 4 * PG, "%s: tag a has its pages", when);
	is(anon_of(b), pages / 4 * PG, "%s: tag b has its pages", when);
	is(anon_of(w), 0, "%s: no one else has any", when);
	exact("%s: exact", when);
}

static void compaction(void)
{
	uint64_t before = vmstat("pgmigrate_success");
	char *p = sieve();
	size_t n = compact(p);

	/* What did not move once does not, however often it is asked: then others, in other frames. */
	for (int tries = 1; !n && tries < TRIES; tries++) {
		p = another(p);
		n = compact(p);
	}
	ok(n > 0, "compaction moves pages of the area (%zu of %d)", n, SIEVE / 2);
	ok(vmstat("pgmigrate_success") - before >= n, "/proc/vmstat has counted them");
	intact(SIEVE, "after compaction");
	in_child {
		intact(SIEVE, "in a child");
		touch(w, p, PG);
		intact(SIEVE, "in a child that copied");
	}
	for (size_t i = 0; i < SIEVE; i += 2)
		must(munmap(p + i * PG, PG));
	is(anon_of(a), 0, "munmap of one tag's pages ends them, wherever they are now");
	is(anon_of(b), SIEVE / 4 * PG, "and no others");
	must(munmap(p, SIEVE * PG));
	is(anon_of(b), 0, "munmap of the rest ends it");
}

/* The child has it move the pages of both. */
static void compaction_of_shared(void)
{
	struct gate *g = gate();
	char *p = sieve();

	for (int tries = 0; !atomic_load(&g->step) && tries < TRIES; tries++) {
		if (tries)
			p = another(p);
		in_child {
			atomic_store(&g->step, compact(p));
			if (atomic_load(&g->step)) {
				intact(SIEVE, "in a child, after compaction of shared pages");
				touch(w, p, PG);
				intact(SIEVE, "in a child that copied one of them");
			}
		}
		if (atomic_load(&g->step))
			intact(SIEVE, "in its parent");
	}
	must(munmap(p, SIEVE * PG));
	ok(atomic_load(&g->step) > 0, "compaction moves pages that two share (%d of %d)",
	   atomic_load(&g->step), SIEVE / 2);
	is(anon_of(a) + anon_of(b), 0, "munmap ends them");
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
	ok(moved(p, N) >= asked, "every soft-offlined page moved (%zu of %zu)", moved(p, N), asked);
	intact(N, "after soft-offlining");
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(b), 0, "nothing is left");
}

static atomic_bool stop;

static void *compactor(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop))
		compact_memory();
	return NULL;
}

/* Pages that come and go, are copied and forked. Return: how many of them were seen to be moved meanwhile. */
static size_t come_and_go(char *p)
{
	size_t n = 0;

	pagemap(p, SIEVE, was);
	for (int round = 0; round < 2; round++) {
		touch_all(p, false);
		/* All are there at first: what is elsewhere then was moved. */
		if (round)
			pagemap(p, SIEVE, was);
		for (size_t i = 0; i < SIEVE; i += 8)
			must(madvise(p + i * PG, PG, MADV_DONTNEED));
		if (!round) {
			in_child {
				touch(w, p + 4 * PG, 2 * PG);
				must(munmap(p, SIEVE * PG));
				if (anon_of(a) + anon_of(b))
					ok(false, "a child that unmapped all has nothing left");
			}
		}
		until((n += moved(p, SIEVE)) > 0, 1);
		must(madvise(p, SIEVE / 2 * PG, MADV_DONTNEED));
	}
	return n;
}

/* Now and then compaction has already moved all that it can when the frames are noted: then with others. */
static void while_busy(void)
{
	char *p = sieve();
	pthread_t thread;
	size_t n;

	if (pthread_create(&thread, NULL, compactor, NULL))
		bail("thread");
	n = come_and_go(p);
	for (int tries = 1; !n && tries < TRIES; tries++) {
		p = another(p);
		n = come_and_go(p);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	ok(n > 0, "compaction moves pages that come and go (%zu)", n);
	is(anon_of(a), SIEVE * 3 / 32 * PG, "after compaction under load tag a has its pages");
	is(anon_of(b), SIEVE / 8 * PG, "and tag b");
	exact("and all is exact");
	must(munmap(p, SIEVE * PG));
	is(anon_of(a) + anon_of(b) + anon_of(w), 0, "nothing is left");
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("worker");
	spew("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "1000000");
	/* What a CPU keeps free for itself, some thousands of pages since 6.7, is no hole. */
	must(spew(KEPT, "1000000"));
	compaction();
	compaction_of_shared();
	soft_offline();
	while_busy();
	must(spew(KEPT, "0"));
	return end_test();
}
