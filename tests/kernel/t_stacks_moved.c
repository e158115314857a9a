// SPDX-License-Identifier: GPL-2.0
/*
 * Pages stay beneath the stack that first touched them when their contents go to another address, or another frame. What
 * KSM has merged is beneath none, as it is many's.
 */
/* vm: */
#include "lib/folios.h"
#include "lib/keepers.h"
#include "lib/model.h"
#include "lib/stacks.h"
#include "lib/uffd_move.h"
#include "stacks/sites.h"

#define MOVED	   8
#define KSM	   "/sys/kernel/mm/ksm/"
#define KHUGEPAGED "/sys/kernel/mm/transparent_hugepage/khugepaged/"

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

static void moved(mtag_t a)
{
	char *p = area(N * PG), *q = area(N * PG);
	struct site s;

	visit(&s, 4, touch_here, a, p, N);
	must(mremap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	has(getpid(), a, &s, N * PG, 0, "mremap keeps the stack");
	must(munmap(q, N * PG));
}

/* By a thread's other half, as a garbage collector does. */
static void given(mtag_t a)
{
	char *p = area(N * PG), *q = area(N * PG);
	struct uffdio_move move = {.dst = (uintptr_t)q, .src = (uintptr_t)p, .len = N * PG};
	struct site s;
	int uffd = uffd_open();

	if (uffd < 0) {
		skip("UFFDIO_MOVE keeps the stack (not in this kernel)");
		return;
	}
	visit(&s, 5, touch_here, a, p, N);
	uffd_register(uffd, q, N * PG);
	must(ioctl(uffd, UFFDIO_MOVE, &move));
	is(smaps(q, N * PG).anon, N * PG, "UFFDIO_MOVE moves all");
	has(getpid(), a, &s, N * PG, 0, "and keeps the stack");
	tag_adds_up(a, "UFFDIO_MOVE");
	close(uffd);
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
}

/* All pages are equal, as each has the one byte that a touch writes. */
static void merged(mtag_t a)
{
	uint64_t none = stack_sum(stacks(getpid()), a, MTAG_STACK_NONE).anon;
	char *p = area(N * PG);
	struct site s, w;

	if (spew(KSM "sleep_millisecs", "20") || spew(KSM "pages_to_scan", "20000") ||
	    spew(KSM "run", "1")) {
		skip("merged pages (no KSM in this kernel)");
		return;
	}
	visit(&s, 6, touch_here, a, p, N);
	must(madvise(p, N * PG, MADV_MERGEABLE));
	ok(until(pfn_of(p) == pfn_of(p + (N - 1) * PG) && pfn_of(p) == pfn_of(p + PG), 60),
	   "pages are merged");
	spew(KSM "run", "0");
	ok(until(found(getpid(), a, &s, 0, 0), 60), "merged pages are beneath no stack");
	is(stack_sum(stacks(getpid()), a, MTAG_STACK_NONE).anon - none, N * PG, "but counted");
	tag_adds_up(a, "merged");
	/* A copy is whose its original was: so is what is known of it. */
	visit(&w, 7, touch_here, a, p, N / 2);
	has(getpid(), a, &w, 0, 0, "nor are their copies");
	tag_adds_up(a, "copied");
	must(munmap(p, N * PG));
}

/* A folio between a page and a huge page comes by one touch, and goes in parts. */
static void large(mtag_t a)
{
	size_t size[16], n = folio_sizes(size, 16), middle = n > 1 ? size[n / 2] : 0;
	struct site s, w;
	char *p;

	if (!middle || middle == HPAGE) {
		skip("large folios keep their stack (none in this kernel)");
		return;
	}
	use_folios(middle);
	compact_memory();
	p = must(mmap(NULL, 2 * HPAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	p = (char *)(((uintptr_t)p + HPAGE - 1) & ~(HPAGE - 1));
	visit(&s, 8, touch_here, a, p, 1);
	is(present(p, HPAGE), middle, "a touch brings a folio of %zu KiB", middle >> 10);
	has(getpid(), a, &s, middle, 0, "all of it is beneath the stack");
	if (swap_zram()) {
		ok(until((madvise(p, middle, MADV_PAGEOUT), present(p, middle) == 0), 30),
		   "all of it goes to swap");
		has(getpid(), a, &s, 0, middle, "where it is beneath the stack, too");
		read_all(0, p, middle);
		has(getpid(), a, &s, middle, 0, "and when it is read back");
		swapoff_all();
	} else {
		skip("large folios go through swap (no zram)");
	}
	must(madvise(p + PG, PG, MADV_DONTNEED));
	visit(&w, 9, touch_here, a, p + PG, 1);
	has(getpid(), a, &s, middle - PG, 0, "in parts, each page keeps it");
	has(getpid(), a, &w, PG, 0, "and what fills the hole has another");
	tag_adds_up(a, "large folios");
	must(munmap(p, HPAGE));
	folios_end();
}

/* khugepaged copies pages of two stacks to one folio, which is smaller than a huge page. */
static void collapsed(mtag_t a)
{
	size_t size[16], n = folio_sizes(size, 16), middle = n > 1 ? size[n / 2] : 0;
	struct site s, w;
	char *p;

	if (!middle || folio_stat(middle, "collapse_alloc") == UINT64_MAX) {
		skip("what khugepaged collapses to folios keeps its stacks (not in this kernel)");
		return;
	}
	use_folios(0);
	p = must(mmap(NULL, 2 * HPAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	p = (char *)(((uintptr_t)p + HPAGE - 1) & ~(HPAGE - 1));
	visit(&s, 12, touch_here, a, p, HPAGE / PG / 2 - 1);
	visit(&w, 13, touch_here, a, p + HPAGE / 2 - PG, HPAGE / PG / 2 + 1);
	use_folios(middle);
	/* It is told of the process here: there were no such folios at the touch. */
	must(madvise(p, HPAGE, MADV_HUGEPAGE));
	spew(KHUGEPAGED "pages_to_scan", "100000");
	spew(KHUGEPAGED "alloc_sleep_millisecs", "10");
	spew(KHUGEPAGED "scan_sleep_millisecs", "10");
	ok(until(in_folios(p, HPAGE, middle) == HPAGE, 60), "khugepaged makes folios of %zu KiB",
	   middle >> 10);
	no_khugepaged();
	has(getpid(), a, &s, HPAGE / 2 - PG, 0, "each page in them keeps its stack");
	has(getpid(), a, &w, HPAGE / 2 + PG, 0, "one folio has pages of both");
	tag_adds_up(a, "collapsed");
	must(munmap(p, HPAGE));
	folios_end();
}

/* Pages that are there go to another tag, as mtag_range() may: whoever touched them did so all the same. */
static void retagged(mtag_t a, mtag_t b)
{
	char *p = area(N * PG);
	struct site s;

	visit(&s, 10, touch_here, a, p, N);
	must0(mtag_range(p, N * PG, b, MTAG_RANGE_PRESENT));
	has(getpid(), b, &s, N * PG, 0, "what another tag is given keeps its stack");
	has(getpid(), a, &s, 0, 0, "beneath that tag alone");
	ever(getpid(), a, &s, N * PG, "what was touched remains the first one's");
	tag_adds_up(a, "given away");
	tag_adds_up(b, "given");
	must(munmap(p, N * PG));
}

/* Contents that the kernel moves to other frames, as compaction does. */
static void migrated(mtag_t a)
{
	char *p = area(2 * MOVED * PG);
	uint64_t frames[2 * MOVED];
	struct site s, w;
	size_t other = 0;

	visit(&s, 4, touch_here, a, p, MOVED);
	visit(&w, 11, touch_here, a, p + MOVED * PG, MOVED);
	for (size_t i = 0; i < 2 * MOVED; i++)
		frames[i] = pfn_of(p + i * PG);
	for (size_t i = 0; i < 2 * MOVED; i++)
		if (madvise(p + i * PG, PG, MADV_SOFT_OFFLINE)) {
			skip("migrated pages keep their stacks (%s)", strerror(errno));
			must(munmap(p, 2 * MOVED * PG));
			return;
		}
	for (size_t i = 0; i < 2 * MOVED; i++)
		other += pfn_of(p + i * PG) != frames[i];
	is(other, 2 * MOVED, "all pages are in other frames");
	has(getpid(), a, &s, MOVED * PG, 0, "migrated pages keep their stack");
	has(getpid(), a, &w, MOVED * PG, 0, "and the others theirs");
	tag_adds_up(a, "migrated");
	must(munmap(p, 2 * MOVED * PG));
}

int main(void)
{
	ssize_t n = must(readlink("/proc/self/exe", exe, sizeof(exe) - 1));
	mtag_t a, b;

	exe[n] = '\0';
	begin_test();
	hand_in_tables();
	begin();
	no_khugepaged();
	a = tag("a");
	b = tag("b");
	read_code();
	must0(-stacks_start_self(1, -1));
	moved(a);
	given(a);
	retagged(a, b);
	migrated(a);
	merged(a);
	large(a);
	collapsed(a);
	is(stacks(getpid())->lost, 0, "no stack was lost");
	return end_test();
}
