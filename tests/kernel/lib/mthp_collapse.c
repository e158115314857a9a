// SPDX-License-Identifier: GPL-2.0
/*
 * Collapses folios of the size under test to huge pages, on demand and by khugepaged, and lets khugepaged collapse
 * pages to folios of this size.
 */
#include "mthp_collapse.h"

/* Pages that collapse fills belong to the owner of most of the new folio; of several, to the first. */
static void fill(struct model *m, size_t from, size_t n, const uint8_t *before)
{
	mtag_t most = MTAG_UNTAGGED;
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		size_t have = 0;

		if (before[from + i] == NOWHERE)
			continue;
		for (size_t j = 0; j < n; j++)
			have += before[from + j] != NOWHERE &&
				m->owner[from + j] == m->owner[from + i];
		if (have > best) {
			best = have;
			most = m->owner[from + i];
		}
	}
	for (size_t i = 0; i < n; i++)
		if (before[from + i] == NOWHERE)
			m->owner[from + i] = most;
}

static void after_collapse(struct model *m, const char *how)
{
	agree("%s: %s keeps owners, and fills holes for the one with most", kb, how);
	is(anon_of(w), 0, "%s: %s: none is the collapser's", kb, how);
	/* khugepaged may still be at work, and would fill the holes that are made now. */
	must(madvise(m->p, m->pages * PG, MADV_NOHUGEPAGE));
	in_child {
		touch_pages(m, w, 0, m->pages / 3, 3);
		agree("%s: %s: a child that copies parts of it", kb, how);
	}
	must(madvise(m->p + 3 * PG, size, MADV_DONTNEED));
	unmap_pages(m, m->pages / 2 - 1, 5);
	agree("%s: %s: parts of it discarded and unmapped", kb, how);
	model_end(0);
	agree("%s: %s: nothing is left", kb, how);
}

/* The range of a huge page, of such folios; some are missing, one in part. */
static struct model *patchwork(void)
{
	struct model *m = folios(0, HPAGE);

	must(madvise(m->p + size, PG, MADV_DONTNEED));
	for (size_t i = 2; i < HPAGE / size; i += 5)
		must(madvise(m->p + i * size, size, MADV_DONTNEED));
	return m;
}

void advised(void)
{
	static uint8_t before[PAGES_MAX];
	struct model *m = patchwork();
	mtag_t was;
	bool good;

	look(m, before);
	was = mtag_enter(w);
	good = until(!madvise(m->p, HPAGE, MADV_COLLAPSE) || errno == EINVAL, 30);
	mtag_leave(was);
	if (!good || smaps(m->p, HPAGE).huge != HPAGE) {
		ok(false, "%s: MADV_COLLAPSE makes a huge page: %s", kb, strerror(errno));
		model_end(0);
		return;
	}
	fill(m, 0, m->pages, before);
	after_collapse(m, "MADV_COLLAPSE");
}

void khugepaged(void)
{
	static uint8_t before[PAGES_MAX];
	struct model *m = patchwork();

	look(m, before);
	use_folios(HPAGE);
	/* khugepaged looks at processes that asked for huge pages while there were some. */
	must(madvise(m->p, HPAGE, MADV_HUGEPAGE));
	spew(THP "khugepaged/pages_to_scan", "100000");
	spew(THP "khugepaged/alloc_sleep_millisecs", "10");
	spew(THP "khugepaged/scan_sleep_millisecs", "10");
	if (ok(until(smaps(m->p, HPAGE).huge == HPAGE, 60), "%s: khugepaged collapses them", kb)) {
		fill(m, 0, m->pages, before);
		no_khugepaged();
		after_collapse(m, "khugepaged");
	}
	no_khugepaged();
	use_folios(size);
	model_end(0);
}

void khugepaged_to_folios(void)
{
	static uint8_t before[PAGES_MAX];
	struct model *m;
	bool good;

	if (folio_stat(size, "collapse_alloc") == UINT64_MAX) {
		skip("%s: khugepaged collapses to such folios (not in this kernel)", kb);
		return;
	}
	use_folios(0);
	m = empty(0, HPAGE);
	/* Three quarters of each folio-to-be, of two tags; one in four has one page only. */
	for (size_t i = 0; i < m->pages; i += pages_each) {
		size_t n = i / pages_each % 4 == 3 ? 1 : pages_each * 3 / 4;

		touch_pages(m, i / pages_each % 2 ? a : b, i, n / 2 + 1, 1);
		touch_pages(m, d, i + n / 2 + 1, n - n / 2 - 1, 1);
	}
	look(m, before);
	use_folios(size);
	spew(THP "khugepaged/max_ptes_none", "%lu", HPAGE / PG - 1);
	spew(THP "khugepaged/pages_to_scan", "100000");
	spew(THP "khugepaged/alloc_sleep_millisecs", "10");
	spew(THP "khugepaged/scan_sleep_millisecs", "10");
	good = until(in_folios(m->p, HPAGE, size) == HPAGE, 60);
	no_khugepaged();
	if (ok(good, "%s: khugepaged collapses to such folios", kb)) {
		for (size_t i = 0; i < m->pages; i += pages_each)
			fill(m, i, pages_each, before);
		after_collapse(m, "khugepaged to this size");
	}
	model_end(0);
}
