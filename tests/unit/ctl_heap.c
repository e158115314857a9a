// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c */
/* sources: ctl/heaps/objects.c ctl/heaps/maps.c ctl/heaps/parts.c ctl/heaps/head.c ctl/heaps/view.c */
/* sources: ctl/heaps/carry.c */
/*
 * mtagctl heap: objects that are known, on pages that are known.
 */
#include <string.h>

#include "ctl.h"
#include "ctl_heap.h"
#include "ctl_tap.h"
#include "heaps/carry.h"
#include "heaps/view.h"

/* Pages of BASE: two of A, one of B, one in swap, one untouched, one read only; and of the other mappings below. */
static int look(void *arg, uint64_t start, uint64_t end, uint32_t *pages)
{
	static const uint32_t rows[] = {A | MTAG_OWNER_PRESENT,
					A | MTAG_OWNER_PRESENT,
					B | MTAG_OWNER_PRESENT,
					A | MTAG_OWNER_SWAP,
					0,
					MTAG_OWNER_ZERO};
	static const struct {
		uint64_t present;
		uint32_t page;
	} others[] = {{2, V}, {10, A | MTAG_OWNER_FILE}, {4, B | MTAG_OWNER_FILE}, {5, 0}, {3, V}};

	(void)arg;
	for (uint64_t at = start; at < end; at += PAGE, pages++) {
		uint64_t map = at / BASE - 2, page = at % BASE / PAGE;

		*pages = 0;
		if (at / BASE == 1)
			*pages = page < ARRAY_SIZE(rows) ? rows[page] : 0;
		else if (page < others[map].present)
			*pages = others[map].page | MTAG_OWNER_PRESENT;
		/* One page of the file was written to, and is B's; one page of anonymous memory has an owner that is
		 * younger than the tags.
		 */
		if (at == 3 * BASE)
			*pages = B | MTAG_OWNER_PRESENT;
		if (at == 6 * BASE)
			*pages = 60000 | MTAG_OWNER_PRESENT;
	}
	return 0;
}

static struct snap snap;
static struct heap_objects objects;
static struct heap_maps maps;
static struct heap_view view;

static int make_view(const char *smaps)
{
	FILE *file = fmemopen((void *)(uintptr_t)smaps, strlen(smaps), "r");
	struct heap_parts parts = {.proc = &snap.procs[0],
				   .objects = &objects,
				   .maps = &maps,
				   .pages = {look, NULL},
				   .area = BASE << 1,
				   .area_bytes = LENGTH};
	int err = heap_maps_parse(file, &maps);

	fclose(file);
	err = err ? err : heap_objects_read(&source, 5, &objects);
	return err ? err : heap_view_make(&view, &parts);
}

static void end_view(void)
{
	heap_view_clear(&view);
	heap_maps_clear(&maps);
	heap_objects_clear(&objects);
}

static const struct heap_tag *find(uint16_t id)
{
	static const struct heap_tag none;
	const struct heap_tag *found = heap_find(&view, id);

	return found ? found : &none;
}

static bool adds_up(uint64_t rss)
{
	uint64_t tags = 0;

	for (size_t i = 0; i < view.n; i++)
		tags += heap_rss(&view.tags[i].account);
	/* All but the page that is no known tag's. */
	return heap_rss(&view.account) == rss && tags + PAGE == rss;
}

static bool is_account(const struct heap_account *account, const uint64_t bytes[TERMS])
{
	return !memcmp(account->bytes, bytes, sizeof(account->bytes));
}

static const char smaps[] = "100000000-100006000 rw-p 00000000 00:00 0 \n"
			    "Rss:                  12 kB\n"
			    "Anonymous:            12 kB\n"
			    "200000000-200802000 rw-p 00000000 00:00 0 \n"
			    "Rss:                   8 kB\n"
			    "300000000-300010000 r-xp 00000000 00:00 5    /lib/x.so\n"
			    "Rss:                  40 kB\n"
			    "Anonymous:             4 kB\n"
			    "400000000-400010000 rw-s 00000000 00:00 5    /memfd:x (deleted)\n"
			    "Rss:                  16 kB\n"
			    "500000000-500010000 rw-p 00000000 00:00 0    [stack]\n"
			    "Rss:                  20 kB\n"
			    "600000000-600010000 rw-p 00000000 00:00 0 \n"
			    "Rss:                  12 kB\n"
			    "700000000-700010000 rw-p 00000000 00:00 0    /never/touched\n"
			    "Rss:                   0 kB\n";

static void sampled(void)
{
	const struct heap_tag *a, *b;

	begin(MTAG_HEAP_SAMPLED);
	sample(3, BASE + 100, 2 * PAGE, ONE, A);	  /* on three pages, the last one B's */
	sample(1, BASE + 2 * PAGE + 200, 96, 4 * ONE, B); /* four of them */
	sample(5, BASE + 3 * PAGE, 3 * PAGE, ONE, A);	  /* in swap, untouched, read */
	area.head.figures = (struct mtag_heap_figures){
		.time = 1, .retained = 100, .known = MTAG_HEAP_KNOWS_RETAINED};
	area.head.figures.check = mtag_heap_check(&area.head.figures);
	area.head.damaged = 7;
	ok(!make_view(smaps) && view.damaged == 7, "a heap is joined with its pages");
	a = find(A);
	b = find(B);
	ok(a->asked == 5 * PAGE && a->objects == 2 && !a->error && !a->objects_error,
	   "what surely is sampled has no error");
	ok(b->asked == 4 * 96 && b->objects == 4, "what stands for four counts four times");
	ok(b->error == 333, "and its error is the root of weight (weight - 1) bytes squared");
	ok(b->objects_error == 5, "that of their number the root of that, and of as much again");
	ok(a->resident == 2 * PAGE && a->swapped == PAGE && a->untouched == 2 * PAGE,
	   "pages that are there, in swap, never touched");
	ok(a->foreign == 100 && b->foreign == 0, "the end of an object is on another tag's page");
	ok(a->pages == 2 * PAGE && b->pages == PAGE, "pages have owners");
	ok(a->wasted == 100 && b->wasted == PAGE - 4 * 96 - 100, "waste is what no object is on");
	ok(adds_up((12 + 8 + 40 + 16 + 20 + 12) * 1024),
	   "the account adds up, and so do the tags'");
	ok(is_account(&view.account, (uint64_t[TERMS]){[TERM_LIVE] = 2 * PAGE + 4 * 96,
						       [TERM_FREE] = 100,
						       [TERM_OWN] = PAGE - 4 * 96 - 100,
						       [TERM_STACKS] = 20 << 10,
						       [TERM_FILES] = 36 << 10,
						       [TERM_DATA] = PAGE,
						       [TERM_SHARED] = 16 << 10,
						       [TERM_VIEW] = 4 * PAGE,
						       [TERM_OTHER] = PAGE}),
	   "the heap is alive, free and the allocator's, the rest is by kind");
	ok(view.account.free_least == 100 && !view.bypassed,
	   "what is free is there, as all that is absent is allocated");
	ok(is_account(&a->account, (uint64_t[TERMS]){[TERM_LIVE] = 2 * PAGE - 100,
						     [TERM_WASTED] = 100,
						     [TERM_FILES] = 36 << 10}),
	   "a tag's: what of its own is alive on its pages, and its other pages");
	ok(is_account(&b->account, (uint64_t[TERMS]){[TERM_LIVE] = 4 * 96,
						     [TERM_GUESTS] = 100,
						     [TERM_WASTED] = PAGE - 4 * 96 - 100,
						     [TERM_DATA] = PAGE,
						     [TERM_SHARED] = 16 << 10}),
	   "and what is alive of others on them");
	ok(b->account.live_error == 333 && !b->account.guests_error && !a->account.live_error,
	   "each with its error");
	ok(find(V)->account.bytes[TERM_VIEW] == 4 * PAGE && !find(V)->pages,
	   "what the view needs is its own area, and other memory of its tag");
	end_view();
}

/*
 * Three pages of six are there, with nothing alive on the last two; three are absent, of which an
 * object has two.
 */
static uint64_t free_least(uint64_t retained, uint64_t weight)
{
	uint64_t least;

	begin(MTAG_HEAP_SAMPLED);
	sample(0, BASE, PAGE, ONE, A);
	sample(1, BASE + 3 * PAGE, 2 * PAGE, weight, A);
	area.head.flags = MTAG_HEAP_BYPASSED;
	area.head.figures = (struct mtag_heap_figures){
		.time = 1, .retained = retained, .known = MTAG_HEAP_KNOWS_RETAINED};
	area.head.figures.check = mtag_heap_check(&area.head.figures);
	ok(!make_view(smaps) && view.bypassed && heap_rss(&view.account) == 108 << 10 &&
		   view.account.bytes[TERM_LIVE] == PAGE &&
		   view.account.bytes[TERM_FREE] + view.account.bytes[TERM_OWN] == 2 * PAGE &&
		   view.account.free_least <= view.account.bytes[TERM_FREE],
	   "what is free and the allocator's own is divided");
	least = view.account.free_least;
	end_view();
	return least;
}

static void free_bounds(void)
{
	ok(free_least(PAGE / 2, ONE) == 0, "free memory may all be on the page that is absent");
	ok(free_least(5 * PAGE / 2, ONE) == 3 * PAGE / 2, "what finds no room there is resident");
	ok(free_least(4 * PAGE, ONE) == 2 * PAGE, "but no more than is left of the heap");
	/* Two objects, 2 sigma of which is 5.7 pages. */
	ok(free_least(4 * PAGE, 2 * ONE) == 0, "where that is an estimate, less of it is certain");
}

static void exact(void)
{
	begin(MTAG_HEAP_EXACT);
	sample(0, BASE, 2 * PAGE, ONE, A);
	/* One thread allocated what another freed. */
	area.cells[0][A] =
		(struct mtag_heap_cell){.asked_in = 9000, .allocated_in = 9500, .objects_in = 3};
	area.cells[1][A] =
		(struct mtag_heap_cell){.asked_out = 4000, .allocated_out = 4500, .objects_out = 1};
	/* A moment in which a free was counted and its allocation was not. */
	area.cells[1][B] =
		(struct mtag_heap_cell){.asked_out = 10, .allocated_out = 16, .objects_out = 1};
	ok(!make_view(smaps), "a heap that is counted is joined with its pages");
	ok(find(A)->asked == 5000 && find(A)->allocated == 5000 && find(A)->objects == 2 &&
		   !find(A)->error && !find(A)->objects_error,
	   "sums are those of the cells of all threads");
	ok(find(A)->resident == 5000 && !find(A)->untouched, "samples say which part is where");
	ok(!find(B)->asked && !find(B)->objects, "less than nothing is nothing");
	end_view();
}

/* Sums alone, as top and watch read them, from cells; and with what was known of pages. */
static void sums(void)
{
	static struct heap_tag old[] = {{.id = 0, .asked = 7, .wasted = 5}, {.id = A, .wasted = 6}};
	const struct heap_view before = {.tags = old, .n = 2};

	begin(MTAG_HEAP_SAMPLED);
	sample(0, BASE, 2 * PAGE, ONE, A);
	area.cells[0][A] =
		(struct mtag_heap_cell){.asked_in = 9000, .allocated_in = 9500, .objects_in = 3};
	area.cells[0][B] =
		(struct mtag_heap_cell){.asked_in = 50, .allocated_in = 64, .objects_in = 1};
	ok(!heap_objects_read_sums(&source, 5, &objects) && !objects.n_objects &&
		   !heap_view_sum(&view, &snap.procs[0], &objects),
	   "sums are read without samples");
	ok(view.sums_only && view.n == 2 && find(A)->asked == 9000 && find(A)->objects == 3 &&
		   !find(A)->wasted && find(B)->allocated == 64,
	   "of those tags that have any");
	ok(!heap_carry(&view, &before) && view.wasted_before && view.n == 3,
	   "what was wasted before is kept beside them");
	ok(find(0)->wasted == 5 && !find(0)->asked && find(A)->wasted == 6 &&
		   find(A)->asked == 9000 && find(B)->asked == 50 && !find(B)->wasted,
	   "of each tag, and nothing else of it");
	end_view();
}

int main(void)
{
	struct proc *proc = snap_proc(&snap, 1, "x");

	if (!proc || !proc_add_tag(proc, 0, 0, "") || !proc_add_tag(proc, A, 0, "a") ||
	    !proc_add_tag(proc, B, 0, "b") || !proc_add_tag(proc, V, 0, HEAP_VIEW_TAG) ||
	    snap_finish(&snap))
		return 1;
	sampled();
	free_bounds();
	exact();
	sums();
	snap_clear(&snap);
	return tap_end();
}
