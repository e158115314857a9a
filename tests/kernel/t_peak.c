// SPDX-License-Identifier: GPL-2.0
/*
 * A peak is never above what was resident: copies, splits, collapses and merges, which map the new page before they
 * unmap the old one, at every number of pages at which the module might look.
 */
/* vm: group=parallel mem=1G timeout=300 */
#include "lib/netlink.h"

#define N	 100
#define RESIDUES 64 /* pages that a CPU adds before it looks at the peak */

static mtag_t t;
static char *base; /* RESIDUES pages */
static int nl;

static uint64_t peak_of(mtag_t tag)
{
	return usage(tag).c[MTAG_C_PEAK];
}

/* Gives @r pages to @t, and resets all peaks. */
static void begin_at(int r)
{
	must(madvise(base, RESIDUES * PG, MADV_DONTNEED));
	touch(t, base, r * PG);
	must0(nl_ask(nl, MTAG_CMD_RESET, 0, getpid())->error);
}

/* How many pages the peak exceeds the @most that @t had at once; @excess keeps the maximum. */
static void judge(int r, uint64_t most, int64_t *excess)
{
	int64_t above = (int64_t)(peak_of(t) - most - r * PG) / PG;

	if (above > *excess)
		*excess = above;
}

static void end(int64_t excess, const char *what)
{
	is(excess, 0, "%s: no peak above what was resident, at any of %d numbers of pages", what,
	   RESIDUES);
	exact("and exact");
}

/*
 * A page that a relative shares is written, and so copied. The relative has run before the CPU's count begins at @r: as
 * its tag has the same place there, it would end that.
 */
static void copies(void)
{
	char *p = area(N * PG);
	int64_t excess = 0;

	for (int r = 0; r < RESIDUES; r++) {
		struct gate *g = gate();
		pid_t pid;

		touch(t, p, N * PG);
		pid = child();
		if (!pid) {
			open_gate(g, 1);
			pass_gate(g, 2);
			_exit(0);
		}
		pass_gate(g, 1);
		begin_at(r);
		touch(t, p, N * PG);
		judge(r, N * PG, &excess);
		open_gate(g, 2);
		reap(pid);
		must(madvise(p, N * PG, MADV_DONTNEED));
	}
	end(excess, "copies on write");
	must(munmap(p, N * PG));
}

static void splits(void)
{
	int64_t excess = 0;

	for (int r = 0; r < RESIDUES; r++) {
		char *p = huge_area(HPAGE);

		begin_at(r);
		touch(t, p, PG);
		if (anon_of(t) != HPAGE + r * PG)
			bail("%d: no huge page, %" PRIu64 " pages", r, anon_of(t) / PG);
		must(madvise(p, PG, MADV_DONTNEED));
		judge(r, HPAGE, &excess);
		must(munmap(p, HPAGE));
	}
	end(excess, "splits of huge pages");
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static void collapses(void)
{
	char *p = huge_area(HPAGE);
	int64_t excess = 0;
	int collapsed = 0;

	for (int r = 0; r < RESIDUES; r++) {
		begin_at(r);
		no_huge(p, HPAGE);
		touch(t, p, HPAGE);
		must(madvise(p, HPAGE, MADV_HUGEPAGE));
		collapsed += until(!madvise(p, HPAGE, MADV_COLLAPSE) ||
					   (errno != EAGAIN && errno != EBUSY),
				   30) &&
			     smaps(p, HPAGE).huge;
		judge(r, HPAGE, &excess);
		must(madvise(p, HPAGE, MADV_DONTNEED));
	}
	is(collapsed, RESIDUES, "pages are collapsed");
	end(excess, "collapses");
	must(munmap(p, HPAGE));
}

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

/* A page that migrates is in one place at a time. Compaction would find nothing to do here. */
static void migrations(void)
{
	static uint64_t was[N], is_now[N];
	char *p = area(N * PG);
	int64_t excess = 0;
	size_t asked = 0, moved = 0;

	for (int r = 0; r < RESIDUES; r++) {
		begin_at(r);
		touch(t, p, N * PG);
		pagemap(p, N, was);
		for (size_t i = 0; i < N; i += N / 4)
			asked += !madvise(p + i * PG, PG, MADV_SOFT_OFFLINE);
		pagemap(p, N, is_now);
		for (size_t i = 0; i < N; i++)
			moved += was[i] != is_now[i];
		judge(r, N * PG, &excess);
		must(madvise(p, N * PG, MADV_DONTNEED));
	}
	if (asked)
		ok(moved >= asked, "pages are migrated (%zu of %zu)", moved, asked);
	else
		skip("pages are migrated (this kernel cannot soft-offline them)");
	end(excess, "migrations");
	must(munmap(p, N * PG));
}

int main(void)
{
	begin_test();
	/* What one CPU has not added yet is the same from run to run. */
	run_on_first_cpu();
	begin();
	nl_begin();
	nl = nl_open();
	t = tag("t");
	base = area(RESIDUES * PG);
	copies();
	if (has_huge_pages()) {
		splits();
		collapses();
	} else {
		skip("splits and collapses (no huge pages here)");
	}
	migrations();
	return end_test();
}
