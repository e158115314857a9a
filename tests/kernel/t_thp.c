// SPDX-License-Identifier: GPL-2.0
/* Rule 2 for transparent huge pages: allocation, split, fork, collapse with several owners and holes. */
/* vm: core=1 timeout=400 */
/* vm: brief=1 timeout=400 */
#include "lib/test.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"
#define SUB (HPAGE / PG)

static mtag_t a, b, w;

/* Two huge pages of tag a, checked to be huge. */
static char *two_huge(void)
{
	char *p = NULL;

	for (int i = 0; i < 20; i++) {
		if (p)
			must(munmap(p, 2 * HPAGE));
		p = huge_area(2 * HPAGE);
		touch(a, p, 2 * HPAGE);
		if (smaps(p, 2 * HPAGE).huge == 2 * HPAGE)
			return p;
		compact_memory();
	}
	bail("no huge pages to be had");
}

static void whole(void)
{
	char *p = two_huge();

	is(anon_of(a), 2 * HPAGE, "a huge page is all its toucher's");
	owns(a, p, 2 * HPAGE, "smaps agrees");
	exact("huge pages are exact");
	must(munmap(p, 2 * HPAGE));
	is(anon_of(a), 0, "munmap of huge pages ends them");
	exact("exact without them");
}

static void split(void)
{
	char *p = two_huge();

	must(munmap(p + 7 * PG, PG));
	is(anon_of(a), 2 * HPAGE - PG, "a hole of one page costs one page");
	must(madvise(p + HPAGE / 2, HPAGE, MADV_DONTNEED));
	owns(a, p, 2 * HPAGE, "MADV_DONTNEED over two halves leaves what smaps says");
	is(anon_of(a), HPAGE - PG, "which is the other halves");
	touch(b, p + HPAGE / 2, HPAGE);
	is(anon_of(b), HPAGE, "the holes belong to the next toucher");
	exact("split huge pages are exact");
	must(munmap(p, 2 * HPAGE));
	is(anon_of(a) + anon_of(b), 0, "nothing is left of them");
	p = two_huge();
	must(mprotect(p + HPAGE / 4, PG, PROT_READ));
	is(anon_of(a), 2 * HPAGE, "a split of the page table changes no owner");
	must(madvise(p, 2 * HPAGE, MADV_FREE));
	is(anon_of(a), smaps(p, 2 * HPAGE).anon,
	   "MADV_FREE over huge pages leaves what smaps says");
	must(munmap(p, 2 * HPAGE));
	exact("exact after that");
}

static void forked(void)
{
	char *p = two_huge();

	in_child {
		is(anon_of(a), 2 * HPAGE, "a child has its parent's huge pages");
		exact("a child with huge pages is exact");
		touch(w, p, HPAGE / 2);
		owns(a, p, 2 * HPAGE, "copying parts of them keeps the owner");
		is(anon_of(w), 0, "the writer gets none");
		must(munmap(p + HPAGE, HPAGE / 2));
		owns(a, p, 2 * HPAGE, "so does unmapping a part of one that is shared");
		exact("a child that split them is exact");
	}
	is(anon_of(a), 2 * HPAGE, "the parent keeps them");
	touch(w, p, 2 * HPAGE);
	owns(a, p, 2 * HPAGE, "writing again keeps the owner");
	exact("the parent is exact");
	must(munmap(p, 2 * HPAGE));
}

static void zero(void)
{
	char *p = huge_area(HPAGE);

	read_all(w, p, HPAGE);
	is(anon_of(w), 0, "the huge zero page is nobody's");
	exact("and no RSS");
	touch(b, p + HPAGE / 2, PG);
	owns(b, p, HPAGE, "what a write makes of it is the writer's");
	exact("exact after the write");
	must(munmap(p, HPAGE));
	is(anon_of(b), 0, "and goes away");
}

/* Base pages in one huge page's range: 0 to 99 of a, 100 to 399 of b, the rest a hole. */
static char *patchwork(void)
{
	char *p = area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE);

	must(madvise(p, HPAGE, MADV_NOHUGEPAGE));
	touch(a, p, 100 * PG);
	touch(b, p + 100 * PG, 300 * PG);
	must(madvise(p, HPAGE, MADV_HUGEPAGE));
	return p;
}

static void collapsed(char *p, const char *how)
{
	is(smaps(p, HPAGE).huge, HPAGE, "%s: it is one huge page", how);
	/* khugepaged may still be at work, and would fill the holes that are made now. */
	must(madvise(p, HPAGE, MADV_NOHUGEPAGE));
	is(anon_of(a), 100 * PG, "%s: a keeps its pages", how);
	is(anon_of(b), (300 + SUB - 400) * PG, "%s: b, which has most of it, gets the hole", how);
	is(anon_of(w), 0, "%s: the collapser gets none", how);
	exact("%s: exact", how);
	must(madvise(p, 50 * PG, MADV_DONTNEED));
	is(anon_of(a), 50 * PG, "%s: pages of a in it end as a's", how);
	must(munmap(p + 90 * PG, 20 * PG));
	is(anon_of(a), 40 * PG, "%s: of a hole over both, a loses its part", how);
	is(anon_of(b), (290 + SUB - 400) * PG, "%s: and b its own", how);
	in_child {
		touch(w, p + 50 * PG, 40 * PG);
		is(anon_of(a), 40 * PG, "%s: a child's copies are a's", how);
		exact("%s: a child of it is exact", how);
	}
	must(munmap(p, HPAGE));
	is(anon_of(a) + anon_of(b), 0, "%s: nothing is left", how);
	exact("%s: exact in the end", how);
}

static void advised(void)
{
	char *p = patchwork();
	mtag_t before = mtag_enter(w);
	bool good = until(!madvise(p, HPAGE, MADV_COLLAPSE) || errno == EINVAL, 30);

	mtag_leave(before);
	if (!good || smaps(p, HPAGE).huge != HPAGE) {
		skip("MADV_COLLAPSE keeps owners (this kernel cannot: %s)", strerror(errno));
		must(munmap(p, HPAGE));
		return;
	}
	collapsed(p, "MADV_COLLAPSE");
}

/* A huge page made only of holes: no tag touched it, least of all the one that asked for it. */
static void of_nothing(void)
{
	char *p = area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE);
	mtag_t before;
	bool made;

	must(madvise(p, HPAGE, MADV_NOHUGEPAGE));
	touch(a, p, PG);
	must(madvise(p, PG, MADV_DONTNEED));
	must(madvise(p, HPAGE, MADV_HUGEPAGE));
	before = mtag_enter(w);
	made = !madvise(p, HPAGE, MADV_COLLAPSE);
	mtag_leave(before);
	if (made)
		is(smaps(p, HPAGE).huge, HPAGE, "MADV_COLLAPSE makes a huge page of nothing");
	else
		diag("MADV_COLLAPSE of nothing: %s", strerror(errno));
	is(anon_of(w) + anon_of(a), 0, "a huge page made of nothing is nobody's");
	exact("and exact");
	must(munmap(p, HPAGE));
	exact("and gone");
}

static void khugepaged(void)
{
	char *p;

	spew(THP "khugepaged/scan_sleep_millisecs", "10");
	spew(THP "khugepaged/alloc_sleep_millisecs", "10");
	spew(THP "khugepaged/pages_to_scan", "100000");
	p = patchwork();
	if (until(smaps(p, HPAGE).huge == HPAGE, 60))
		collapsed(p, "khugepaged");
	else
		ok(false, "khugepaged collapses within a minute");
	/* Back to its sleep: the tests that follow want quiet memory. */
	spew(THP "khugepaged/scan_sleep_millisecs", "10000");
}

/* A write through a huge page whose parts have several owners. */
static void retagged(void)
{
	char *p = two_huge();

	must0(mtag_range(p + HPAGE / 4, HPAGE / 2, b, MTAG_RANGE_PRESENT));
	is(anon_of(b), HPAGE / 2, "a part of a huge page may get another owner");
	is(anon_of(a), 2 * HPAGE - HPAGE / 2, "the rest stays");
	in_child {
		is(anon_of(b), HPAGE / 2, "a child has it so, too");
		exact("and is exact");
		touch(w, p, HPAGE);
		is(anon_of(b), HPAGE / 2, "and keeps it when it copies");
		is(anon_of(a), 2 * HPAGE - HPAGE / 2, "both of them");
	}
	must(munmap(p, HPAGE / 2));
	is(anon_of(b), HPAGE / 4, "unmapping ends the right ones");
	is(anon_of(a), HPAGE + HPAGE / 4, "of both owners");
	exact("exact with several owners in a huge page");
	must(munmap(p, 2 * HPAGE));
	is(anon_of(a) + anon_of(b), 0, "nothing is left");
}

static void swapped(void)
{
	char *p;

	if (!swap_zram()) {
		skip("huge pages through swap keep owners (no zram)");
		return;
	}
	p = two_huge();
	must0(mtag_range(p + HPAGE / 4, HPAGE / 2, b, MTAG_RANGE_PRESENT));
	if (!page_out(p, 2 * HPAGE))
		bail("MADV_PAGEOUT leaves %" PRIu64 " bytes", smaps(p, 2 * HPAGE).rss);
	is(swap_of(b), HPAGE / 2, "a huge page in swap keeps its owners");
	is(swap_of(a), 2 * HPAGE - HPAGE / 2, "all of them");
	exact("exact with huge pages in swap");
	read_all(w, p, 2 * HPAGE);
	is(anon_of(b), HPAGE / 2, "and brings them back");
	is(anon_of(a), 2 * HPAGE - HPAGE / 2, "all of them");
	exact("exact after that");
	must(munmap(p, 2 * HPAGE));
}

static void shared(void)
{
	char *p;
	mtag_t s = tag("shmem"), before;

	if (spew(THP "shmem_enabled", "always")) {
		skip("huge pages of shared memory are counted (not in this kernel)");
		return;
	}
	compact_memory();
	before = mtag_enter(s);
	p = must(mmap(NULL, 3 * HPAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	mtag_leave(before);
	touch(w, p, 3 * HPAGE);
	ok(smaps(p, 3 * HPAGE).huge > 0, "shared memory has huge pages");
	is(shmem_of(s), 3 * HPAGE, "which are their mapper's");
	exact("and exact");
	must(munmap(p + HPAGE / 2, HPAGE));
	is(shmem_of(s), smaps(p, 3 * HPAGE).rss, "split ones are what smaps says");
	exact("and exact");
	must(madvise(p + 2 * HPAGE, HPAGE / 2, MADV_REMOVE));
	is(shmem_of(s), smaps(p, 3 * HPAGE).rss, "so is what MADV_REMOVE leaves");
	exact("and exact");
	must(munmap(p, 3 * HPAGE));
	is(shmem_of(s), 0, "nothing is left");
	spew(THP "shmem_enabled", "never");
}

int main(void)
{
	begin_test();
	swapoff_all();
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("worker");
	/* khugepaged runs only where a test asks for it. */
	spew(THP "khugepaged/scan_sleep_millisecs", "1000000");
	if (spew(THP "enabled", "madvise"))
		skip_all("no transparent huge pages in this kernel");
	whole();
	split();
	forked();
	zero();
	advised();
	of_nothing();
	khugepaged();
	retagged();
	swapped();
	shared();
	spew(THP "enabled", "always");
	return end_test();
}
