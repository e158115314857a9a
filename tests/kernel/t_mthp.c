// SPDX-License-Identifier: GPL-2.0
/*
 * Rules 1 and 2 for folios of every size that private memory may have: mapped, unmapped, moved, copied
 * and forked in part, split, migrated, merged, collapsed, retagged.
 */
/* vm: core=1 group=plain timeout=900 since=6.12 not=rt because="no such folios" */
#include "lib/mthp.h"
#include "lib/mthp_collapse.h"

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

static void touched(void)
{
	struct model *m = folios(0, some_folios());

	agree("%s: a folio belongs to the one whose touch made it", kb);
	touch_pages(m, w, 0, m->pages, 1);
	is(anon_of(w), 0, "%s: touching the rest of it changes nothing", kb);
	agree("%s: touched all over, exact", kb);
	model_end(0);
	agree("%s: unmapped whole, nothing is left", kb);
}

static void in_part(void)
{
	struct model *m = folios(0, some_folios());

	unmap_pages(m, pages_each / 2, 1);
	agree("%s: a page in the middle of a folio unmapped", kb);
	unmap_pages(m, pages_each + pages_each / 2, pages_each);
	agree("%s: half of a folio and half of the next one unmapped", kb);
	must(madvise(m->p + 3 * size, PG, MADV_DONTNEED));
	must(madvise(m->p + 4 * size - PG, PG, MADV_DONTNEED));
	agree("%s: the first and the last page discarded", kb);
	touch_pages(m, w, 3 * pages_each, pages_each, 1);
	agree("%s: and touched by another", kb);
	must(madvise(m->p + 3 * size, size, MADV_DONTNEED));
	touch_pages(m, d, 3 * pages_each + 1, 1, 1);
	agree("%s: all of it discarded, and touched by a third one", kb);
	model_end(0);
	agree("%s: after all this nothing is left", kb);
}

static void moved(void)
{
	struct model *m = folios(0, some_folios()), *to = empty(1, some_folios());

	move_pages_to(to, pages_each / 2, m, pages_each / 2, pages_each, 0, w);
	agree("%s: halves of two folios moved", kb);
	move_pages_to(to, 2 * pages_each + 1, m, 2 * pages_each, pages_each / 2, 0, w);
	agree("%s: half a folio moved to where it is not aligned", kb);
	move_pages_to(to, 3 * pages_each, m, 3 * pages_each, pages_each, MREMAP_DONTUNMAP, w);
	agree("%s: a folio moved, its old place left mapped", kb);
	touch_pages(m, d, 3 * pages_each, 1, 1);
	agree("%s: and touched anew", kb);
	in_child {
		agree("%s: a child of moved folios", kb);
		touch_pages(to, w, 0, pages_each, 1);
		touch_pages(m, w, 2 * pages_each + pages_each / 2, pages_each / 2, 1);
		agree("%s: that writes to both parts of one", kb);
		model_end(1);
		agree("%s: and unmaps the parts that moved", kb);
	}
	model_end(0);
	agree("%s: the parts left behind unmapped", kb);
	model_end(1);
	agree("%s: and those that moved", kb);
}

static void copied(void)
{
	struct model *m = folios(0, some_folios());
	struct gate *g = gate();
	pid_t pid = child();

	if (!pid) {
		agree("%s: a child has its parent's folios", kb);
		touch_pages(m, w, 1, m->pages / 4, 3);
		is(anon_of(w), 0, "%s: copies of parts are the owner's", kb);
		agree("%s: a child that copied every third page", kb);
		must(madvise(m->p + pages_each / 2 * PG, size, MADV_DONTNEED));
		agree("%s: and discarded two halves", kb);
		in_child {
			agree("%s: a grandchild", kb);
			touch_pages(m, w, 0, m->pages, 1);
			agree("%s: that writes everywhere", kb);
		}
		open_gate(g, 1);
		pass_gate(g, 2);
		agree("%s: a child whose parent wrote", kb);
		unmap_pages(m, 0, pages_each + 1);
		agree("%s: and that unmapped a folio and a page", kb);
		_exit(0);
	}
	pass_gate(g, 1);
	touch_pages(m, w, 0, m->pages / 2, 2);
	agree("%s: a parent that wrote to every second page", kb);
	open_gate(g, 2);
	reap(pid);
	touch_pages(m, w, 0, m->pages, 1);
	agree("%s: and to all of them, once alone", kb);
	must(munmap(g, PG));
	model_end(0);
	agree("%s: nothing is left of what was copied", kb);
}

static void read_first(void)
{
	struct model *m = empty(0, some_folios());

	read_all(w, m->p, m->pages * PG);
	agree("%s: the zero page is nobody's", kb);
	touch_pages(m, b, 1, m->pages / 8, 4);
	agree("%s: what writes make of it is the writer's", kb);
	touch_pages(m, a, 0, m->pages, 1);
	agree("%s: and the next writer's the rest", kb);
	model_end(0);
}

/* The folio spans the ranges of two tags: each has its part. */
static void ranged(void)
{
	struct model *m = empty(0, some_folios());
	size_t half = pages_each / 2;

	must0(mtag_range(m->p + half * PG, half * PG, b, 0));
	must0(mtag_range(m->p + size + half * PG, PG, d, 0));
	touch_pages(m, a, 0, 1, 1);
	touch_pages(m, a, pages_each, 1, 1);
	for (size_t i = 0; i < half; i++)
		m->owner[half + i] = b;
	m->owner[pages_each + half] = d;
	agree("%s: a folio over the border of a range is owned in parts", kb);
	touch_pages(m, w, 2 * pages_each, 1, 1);
	must0(mtag_range(m->p + 2 * size + PG, half * PG, b, 0));
	agree("%s: a range over a folio leaves resident pages alone", kb);
	must0(mtag_range(m->p + 2 * size + PG, half * PG, b, MTAG_RANGE_PRESENT));
	for (size_t i = 0; i < half; i++)
		m->owner[2 * pages_each + 1 + i] = b;
	agree("%s: or takes them, when told", kb);
	in_child {
		touch_pages(m, w, 0, 3 * pages_each, 1);
		agree("%s: a child's copies of such folios keep their owners", kb);
		unmap_pages(m, half / 2, half);
		agree("%s: and end with them", kb);
	}
	unmap_pages(m, half - 1, 2);
	agree("%s: two pages of two owners unmapped", kb);
	must(madvise(m->p + size, 2 * size, MADV_DONTNEED));
	agree("%s: folios of several owners discarded", kb);
	model_end(0);
}

static void cut(struct model *m, int order)
{
	int error = spew("/sys/kernel/debug/split_huge_pages", "%d,0x%lx,0x%lx,%d", getpid(),
			 (uintptr_t)m->p, (uintptr_t)m->p + m->pages * PG, order);

	if (error)
		diag("split_huge_pages: %s", strerror(-error));
}

static void split(void)
{
	struct model *m = folios(0, some_folios());
	size_t half = pages_each / 2;

	must0(mtag_range(m->p + half * PG, PG, d, MTAG_RANGE_PRESENT));
	m->owner[half] = d;
	/* A split puts the zero page in the place of pages that were never written to. */
	touch_pages(m, w, 0, m->pages, 1);
	if (pages_each > 8) {
		cut(m, 2);
		ok(in_folios(m->p, m->pages * PG, 4 * PG) >= size, "%s: split to 16 KiB", kb);
		agree("%s: split to smaller folios", kb);
	}
	if (!ok(until((cut(m, 0), in_folios(m->p, m->pages * PG, PG) >= size), 5),
		"%s: split to pages", kb))
		diag("%zu bytes of %zu", in_folios(m->p, m->pages * PG, PG), m->pages * PG);
	agree("%s: split to pages", kb);
	unmap_pages(m, half, 2);
	touch_pages(m, w, pages_each, pages_each, 1);
	agree("%s: split, then unmapped in part", kb);
	model_end(0);

	m = folios(0, some_folios());
	cut(m, 0);
	agree("%s: split, with only one page of each written to", kb);
	in_child
		agree("%s: in a child", kb);
	touch_pages(m, w, 0, m->pages, 1);
	agree("%s: then written to by another", kb);
	model_end(0);

	m = folios(0, some_folios());
	must(madvise(m->p + half * PG, PG, MADV_COLD));
	agree("%s: a page of it made cold", kb);
	must(madvise(m->p + size + half * PG, half * PG, MADV_FREE));
	agree("%s: half of it given up by MADV_FREE", kb);
	must(madvise(m->p + size + half * PG, half * PG, MADV_PAGEOUT));
	agree("%s: and reclaimed, as far as it was", kb);
	must(madvise(m->p + 2 * size, size, MADV_FREE));
	touch_pages(m, w, 2 * pages_each, half, 1);
	agree("%s: a folio given up, and half of it written to again", kb);
	must(madvise(m->p + 2 * size, size, MADV_PAGEOUT));
	agree("%s: and reclaimed, as far as it was", kb);
	must(mprotect(m->p + 3 * size + PG, PG, PROT_READ));
	must(mlock(m->p + 3 * size + half * PG, PG));
	agree("%s: parts of it protected and locked", kb);
	must(munlock(m->p + 3 * size + half * PG, PG));
	model_end(0);
	agree("%s: nothing is left of what was split", kb);
}

static size_t elsewhere(const uint64_t *was, const struct model *m)
{
	static uint64_t is_now[PAGES_MAX];
	size_t n = 0;

	pagemap(m->p, m->pages, is_now);
	for (size_t i = 0; i < m->pages; i++)
		n += (was[i] & PAGEMAP_PRESENT) && (is_now[i] & PAGEMAP_PRESENT) &&
		     (was[i] & PAGEMAP_PFN) != (is_now[i] & PAGEMAP_PFN);
	return n;
}

/* Moves every folio to a second node by one of its pages, where the machine has one. */
static void to_other_node(struct model *m)
{
	enum { MOST = 256 };
	void *address[MOST];
	int node[MOST], status[MOST];
	size_t n = 0;

	if (access("/sys/devices/system/node/node1", F_OK))
		return;
	for (size_t i = 0; i < m->pages && n < MOST; i += pages_each)
		address[n++] = m->p + (i + pages_each / 2) * PG;
	for (int to = 1; to >= 0; to--) {
		for (size_t i = 0; i < n; i++)
			node[i] = to;
		ok(syscall(SYS_move_pages, 0, n, address, node, status, 2) >= 0,
		   "%s: move_pages to node %d", kb, to);
		agree("%s: moved to node %d", kb, to);
	}
}

static void migrated(void)
{
	static uint64_t was[PAGES_MAX];
	size_t len = 16 * MIB, n;
	struct model *m = folios(0, len);

	must0(mtag_range(m->p + size + PG, 2 * PG, d, MTAG_RANGE_PRESENT));
	m->owner[pages_each + 1] = m->owner[pages_each + 2] = d;
	for (size_t i = 3; i < len / size; i += 2)
		must(madvise(m->p + i * size, size, MADV_DONTNEED));
	pagemap(m->p, m->pages, was);
	/* What lies where compaction would put it stays there, however often it is asked. */
	n = 0;
	for (int tries = 0; tries < 4 && !n; tries++) {
		compact_memory();
		n = elsewhere(was, m);
	}
	if (n) {
		ok(true, "%s: compaction moves folios", kb);
		diag("%s: %zu pages moved", kb, n);
	} else {
		skip("%s: compaction moves folios (it moved none of them here)", kb);
	}
	agree("%s: after compaction", kb);
	to_other_node(m);
	n = !madvise(m->p + size + PG, PG, MADV_SOFT_OFFLINE);
	agree("%s: after a page of it was %ssoft-offlined", kb, n ? "" : "not ");
	in_child {
		pagemap(m->p, m->pages, was);
		compact_memory();
		agree("%s: after compaction of what a child shares", kb);
		touch_pages(m, w, 0, m->pages / 8, 4);
		agree("%s: and copies", kb);
	}
	model_end(0);
	agree("%s: nothing is left of what was moved", kb);
}

/* Pairs of equal pages, all of one tag: a merged page of two tags has no defined owner. */
static void merged(void)
{
	struct model *m = empty(0, some_folios());
	size_t n = 2 * pages_each;
	mtag_t before;

	for (size_t i = 0; i < m->pages / pages_each; i++)
		touch_pages(m, a, i * pages_each, 1, 1);
	before = mtag_enter(w);
	for (size_t i = 0; i < n; i++)
		memset(m->p + i * PG, 1 + i / 2 % 200, PG);
	mtag_leave(before);
	spew("/sys/kernel/mm/ksm/pages_to_scan", "20000");
	spew("/sys/kernel/mm/ksm/sleep_millisecs", "20");
	spew("/sys/kernel/mm/ksm/run", "1");
	must(madvise(m->p, n * PG, MADV_MERGEABLE));
	ok(until(pfn_of(m->p) && pfn_of(m->p) == pfn_of(m->p + PG) &&
			 pfn_of(m->p + (n - 2) * PG) == pfn_of(m->p + (n - 1) * PG),
		 60),
	   "%s: KSM merges pages of folios", kb);
	spew("/sys/kernel/mm/ksm/run", "0");
	agree("%s: merged pages of folios", kb);
	touch_pages(m, w, 0, n / 2, 1);
	agree("%s: written to again", kb);
	must(madvise(m->p, n * PG, MADV_UNMERGEABLE));
	agree("%s: unmerged", kb);
	model_end(0);
}

static atomic_bool stop;

static void *disturber(void *arg)
{
	struct model *m = arg;

	while (!atomic_load(&stop)) {
		madvise(m->p, m->pages / 2 * PG, MADV_PAGEOUT);
		compact_memory();
	}
	return NULL;
}

/* Reclaim and compaction while folios come and go, are copied and forked. */
static void while_busy(void)
{
	struct model *m;
	pthread_t thread;

	if (!swap_zram()) {
		skip("%s: exact under reclaim and compaction (no zram)", kb);
		return;
	}
	m = folios(0, some_folios());
	/* From now on a folio's place is always touched under the same tag. */
	for (size_t i = 0; i < m->pages; i++)
		m->owner[i] = third[i / pages_each % 3];
	atomic_store(&stop, false);
	if (pthread_create(&thread, NULL, disturber, m))
		bail("thread");
	for (int round = 0; round < 6; round++) {
		for (size_t i = round % 2; i < m->pages; i += 3)
			touch(m->owner[i], m->p + i * PG, PG);
		if (round % 2) {
			in_child {
				read_all(w, m->p, m->pages * PG);
				touch(w, m->p + PG, size);
			}
		}
		must(madvise(m->p + (size_t)round * size / 2, size, MADV_DONTNEED));
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	agree("%s: after reclaim and compaction under load", kb);
	model_end(0);
	agree("%s: nothing is left", kb);
	is(swapoff_all(), 0, "%s: and swap is empty", kb);
}

/* Without --long slower checks run for every second size only. */
static void every_way(bool all)
{
	touched();
	in_part();
	copied();
	ranged();
	split();
	if (size < HPAGE)
		advised();
	if (all) {
		moved();
		read_first();
		migrated();
		merged();
	}
	if (size == 16 * KIB || size == 256 * KIB)
		khugepaged();
	if (size == 32 * KIB || size == 128 * KIB)
		khugepaged_to_folios();
	if (size == 64 * KIB || size == HPAGE / 2 || size == HPAGE)
		while_busy();
	clean(getpid(), "%s: audit agrees", kb);
}

/* Without --long some of the sizes between the smallest and the largest do. */
static bool asked_for(void)
{
	return in_long_form() || size <= 64 * KIB || size == 256 * KIB || size == HPAGE;
}

int main(void)
{
	size_t sizes[16], n = folio_sizes(sizes, COUNT(sizes));

	begin_test();
	if (!n)
		skip_all("this kernel's private memory has no folios of several sizes");
	swapoff_all();
	begin();
	third[0] = a = model_tag("a");
	third[1] = b = model_tag("b");
	third[2] = model_tag("c");
	d = model_tag("d");
	w = model_tag("worker");
	no_khugepaged();
	for (size_t i = 0; i < n; i++) {
		size = sizes[i];
		if (!asked_for())
			continue;
		pages_each = size / PG;
		snprintf(kb, sizeof(kb), "%zu KiB", size / KIB);
		use_folios(size);
		every_way(i % 4 == 0 || size == HPAGE || in_long_form());
	}
	folios_end();
	return end_test();
}
