// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c */
/* sources: ctl/heaps/objects.c ctl/heaps/maps.c ctl/heaps/parts.c ctl/heaps/head.c ctl/heaps/view.c */
/* sources: ctl/stacks/trace.c ctl/heaps/sites.c ctl/heaps/carry.c */
/*
 * mtagctl heap: objects that are known, on pages that are known; and areas that a hostile or damaged process may have.
 */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "heaps/carry.h"
#include "heaps/sites.h"
#include "heaps/view.h"

#define PAGE	HEAP_PAGE
#define BASE	UINT64_C(0x100000000)
#define SAMPLES 8
#define ONE	(UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT)

enum { A = 2, B = 3, V = 4 };

static struct {
	struct mtag_heap_head head;
	struct mtag_heap_cell cells[2][8]; /* the first tags of two slots */
	struct mtag_heap_sample samples[SAMPLES];
	int torn; /* so many reads of the first sample get something else */
	int error;
} area;

#define CELLS_AT   4096
#define SLOT_BYTES (UINT64_C(65536) * sizeof(struct mtag_heap_cell))
#define SAMPLES_AT (CELLS_AT + 2 * SLOT_BYTES)
#define LENGTH	   (SAMPLES_AT + 4096)

/* What is not given is 0, as pages are that were never touched. */
static int area_read(void *arg, uint64_t offset, void *to, size_t length)
{
	(void)arg;
	memset(to, 0, length);
	if (area.error)
		return area.error;
	if (offset < CELLS_AT) {
		memcpy(to, &area.head, length < sizeof(area.head) ? length : sizeof(area.head));
	} else if (offset < SAMPLES_AT) {
		size_t slot = (offset - CELLS_AT) / SLOT_BYTES;

		memcpy(to, area.cells[slot],
		       length < sizeof(area.cells[0]) ? length : sizeof(area.cells[0]));
	} else {
		uint64_t at = offset - SAMPLES_AT;

		memcpy(to, (char *)area.samples + at,
		       length < sizeof(area.samples) - at ? length : sizeof(area.samples) - at);
		if (!at && area.torn-- > 0)
			((struct mtag_heap_sample *)to)->asked ^= 1;
	}
	return 0;
}

static struct heap_source source = {.read = area_read, .length = LENGTH};

static void begin(enum mtag_heap_mode mode)
{
	memset(&area, 0, sizeof(area));
	area.head = (struct mtag_heap_head){
		.magic = MTAG_HEAP_MAGIC,
		.version = MTAG_HEAP_VERSION,
		.head_bytes = sizeof(area.head),
		.area_bytes = LENGTH,
		.mode = mode,
		.wanted = mode,
		.period = 1 << 19,
		.cells_at = CELLS_AT,
		.cell_bytes = sizeof(struct mtag_heap_cell),
		.cell_tags = MTAG_HEAP_TAGS,
		.slots = 2,
		.slots_used = 2,
		.samples_at = SAMPLES_AT,
		.sample_bytes = sizeof(struct mtag_heap_sample),
		.samples_max = SAMPLES,
		.samples_used = SAMPLES,
		.seen = 1,
	};
	area.head.figures.check = mtag_heap_check(&area.head.figures);
}

static void sample(int i, uint64_t address, uint64_t bytes, uint64_t weight, uint32_t tag)
{
	area.samples[i] = (struct mtag_heap_sample){.address = address,
						    .asked = bytes,
						    .allocated = bytes,
						    .weight = weight,
						    .tag = tag};
	area.samples[i].check = mtag_heap_check(&area.samples[i]);
}

/* ---- objects on pages ---- */

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
	ok(a->asked == 5 * PAGE && a->objects == 2 && !a->error,
	   "what surely is sampled has no error");
	ok(b->asked == 4 * 96 && b->objects == 4, "what stands for four counts four times");
	ok(b->error == 333, "and its error is the root of weight (weight - 1) bytes squared");
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
		   !find(A)->error,
	   "sums are those of the cells of all threads");
	ok(find(A)->resident == 5000 && !find(A)->untouched, "samples say which part is where");
	ok(!find(B)->asked && !find(B)->objects, "less than nothing is nothing");
	end_view();
}

/* ---- by call stack ---- */

static struct traces traces;

enum { PROGRAM = 1, LIBC = 2, HEAP = 3 };

static void name_stack(uint32_t number, const uint32_t *images, size_t n)
{
	struct mtag_stack_frame frames[8];
	struct trace *trace;

	for (size_t i = 0; i < n; i++)
		frames[i] = (struct mtag_stack_frame){.offset = 16 * (i + 1), .image = images[i]};
	trace = traces_add_named(&traces, frames, n);
	trace->number = number;
	trace->why = MTAG_STACK_DEEP;
}

static void name_stacks(void)
{
	static const uint32_t usual[] = {LIBC, HEAP, HEAP, PROGRAM, HEAP, PROGRAM};
	static const uint32_t within[] = {LIBC, HEAP}, bare[] = {PROGRAM, LIBC};

	traces_clear(&traces);
	traces_add_image(&traces, PROGRAM, "/bin/x");
	traces_add_image(&traces, LIBC, "/lib/libc.so.6");
	traces_add_image(&traces, HEAP, "/usr/lib/libmtag-heap.so.0");
	/* In no order. */
	name_stack(9, bare, 2);
	name_stack(5, usual, 6);
	name_stack(7, within, 2);
}

static void stack_of(int i, uint32_t stack)
{
	area.samples[i].stack = stack;
	area.samples[i].check = mtag_heap_check(&area.samples[i]);
}

/* The one trace with this number of frames beneath a tag. */
static const struct trace *trace_of(uint32_t tag, size_t n)
{
	static const struct trace none;
	const struct trace *found = &none;

	for (size_t i = 0; i < traces.n; i++)
		if (traces.traces[i].tag == tag && traces.traces[i].n == n)
			found = found == &none ? &traces.traces[i] : &none;
	return found;
}

static int make_sites(uint32_t older)
{
	int err = heap_objects_read(&source, 4, &objects);

	name_stacks();
	err = err ? err : heap_sites_add(&objects, older, &traces);
	heap_objects_clear(&objects);
	return err;
}

static bool is_sum(const struct trace *trace, uint64_t asked, uint64_t count, uint64_t error)
{
	return stack_heap_whole(trace->heap.asked) == asked &&
	       stack_heap_whole(trace->heap.objects) == count &&
	       stack_heap_error(&trace->heap) == error;
}

static void sites_sampled(void)
{
	begin(MTAG_HEAP_SAMPLED);
	for (int i = 0; i < 6; i++)
		sample(i, BASE + 1000 * (uint64_t)i, 100, 2 * ONE, i == 5 ? B : A);
	stack_of(0, 5);
	stack_of(1, 5);
	stack_of(2, 9);
	stack_of(3, 7);
	stack_of(4, 6); /* nobody has told that */
	stack_of(5, 5);
	ok(!make_sites(0) && traces.n == 5 && traces.heap,
	   "objects with one tag and stack are one");
	ok(is_sum(trace_of(A, 3), 400, 4, 200) && is_sum(trace_of(B, 3), 200, 2, 141),
	   "sums and errors are those of the samples");
	ok(trace_of(A, 3)->frames[0].offset == 4 * 16 && trace_of(A, 3)->why == MTAG_STACK_DEEP,
	   "the library's frames at the leaf are left out, those further out are not");
	ok(traces.traces[1].n == 0 && traces.traces[1].kind == MTAG_STACK_NONE &&
		   is_sum(&traces.traces[1], 200, 2, 141),
	   "a number that was made up is no stack, and loses no bytes");
	for (size_t i = 0; i < traces.n; i++)
		if (traces.traces[i].n == 2 && traces.traces[i].frames[0].image == LIBC)
			ok(traces.traces[i].frames[1].image == HEAP,
			   "a walk that ended in the library is shown as it is");
	sample(6, BASE + 6000, 100, UINT64_MAX, A);
	area.samples[6].asked = area.samples[6].allocated = UINT64_MAX;
	stack_of(6, UINT32_MAX);
	ok(!make_sites(0) && stack_heap_whole(trace_of(A, 0)->heap.asked) == 0,
	   "numbers beyond all bounds do no harm");
	area.samples[0].time = UINT64_MAX;
	stack_of(0, 5);
	ok(!make_sites(1) && is_sum(trace_of(A, 3), 200, 2, 141),
	   "with an age, what is younger is left out");
}

static void sites_exact(void)
{
	begin(MTAG_HEAP_EXACT);
	sample(0, BASE, 5000, ONE, A);
	sample(1, BASE + 10000, 100, 10 * ONE, A);
	sample(2, BASE + 20000, 100, 10 * ONE, A);
	stack_of(0, 5);
	stack_of(1, 9);
	stack_of(2, 7);
	area.cells[0][A] =
		(struct mtag_heap_cell){.asked_in = 8000, .allocated_in = 8000, .objects_in = 31};
	area.cells[0][B] =
		(struct mtag_heap_cell){.asked_in = 70, .allocated_in = 80, .objects_in = 2};
	ok(!make_sites(0) && is_sum(trace_of(A, 3), 5000, 1, 0),
	   "of what is counted, a stack that is known for sure stays as it is");
	ok(is_sum(&traces.traces[1], 1500, 15, 949) && is_sum(&traces.traces[2], 1500, 15, 949),
	   "and the others have the rest, by their variances");
	ok(trace_of(B, 0)->kind == MTAG_STACK_UNSAMPLED && is_sum(trace_of(B, 0), 70, 2, 0),
	   "what has no sample is beneath no stack");
	traces_clear(&traces);
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

/* ---- areas that are wrong ---- */

static bool refused(void)
{
	int err = heap_objects_read(&source, 4, &objects);

	heap_objects_clear(&objects);
	return err == -EBADMSG;
}

static void heads(void)
{
	unsigned int taken = 0;

	begin(MTAG_HEAP_SAMPLED);
	area.head.magic++;
	ok(refused(), "another magic number is refused");
	begin(MTAG_HEAP_SAMPLED);
	area.head.version++;
	ok(refused(), "so is another version");
	begin(MTAG_HEAP_SAMPLED);
	area.head.samples_used = area.head.samples_max = UINT32_MAX;
	ok(refused(), "more samples than there may be");
	begin(MTAG_HEAP_SAMPLED);
	area.head.slots = area.head.slots_used = UINT32_MAX;
	ok(refused(), "more slots");
	begin(MTAG_HEAP_SAMPLED);
	area.head.samples_at = UINT64_MAX - 7;
	ok(refused(), "samples outside the area");
	source.length = 100;
	begin(MTAG_HEAP_SAMPLED);
	ok(refused(), "an area shorter than its head");
	source.length = LENGTH;
	for (size_t i = 0; i < sizeof(area.head); i++) {
		begin(MTAG_HEAP_EXACT);
		((unsigned char *)&area.head)[i] ^= 0xff;
		taken += !heap_objects_read(&source, 4, &objects);
		heap_objects_clear(&objects);
	}
	ok(taken > 100 && taken < sizeof(area.head),
	   "with any byte of the head wrong nothing breaks");
	begin(MTAG_HEAP_SAMPLED);
	area.error = -EFAULT;
	ok(heap_objects_read(&source, 4, &objects) == -EFAULT, "an error of reading is passed on");
	heap_objects_clear(&objects);
}

static void samples(void)
{
	begin(MTAG_HEAP_SAMPLED);
	sample(0, BASE, 100, ONE, A);
	area.torn = 2;
	ok(!heap_objects_read(&source, 4, &objects) && objects.n_objects == 1 && !objects.skipped &&
		   objects.objects[0].asked == 100,
	   "a sample that is being written is read again");
	heap_objects_clear(&objects);
	area.torn = 100;
	ok(!heap_objects_read(&source, 4, &objects) && !objects.n_objects && objects.skipped == 1,
	   "and left out if it stays torn");
	heap_objects_clear(&objects);
	begin(MTAG_HEAP_SAMPLED);
	sample(0, BASE + 50, 100, ONE, A);
	sample(1, BASE, 100, ONE, A);
	sample(2, UINT64_MAX - 10, UINT64_MAX, UINT64_MAX, 60000);
	ok(!heap_objects_read(&source, 4, &objects) && objects.n_objects == 2 &&
		   objects.skipped == 1,
	   "of two that overlap one is taken");
	ok(objects.objects[1].tag == 0 && objects.objects[1].end == UINT64_MAX,
	   "a tag that there is not is none, and an object ends with the addresses");
	heap_objects_clear(&objects);
}

static void later(int i, uint64_t address, uint64_t bytes, uint32_t sequence)
{
	sample(i, address, bytes, ONE, A);
	area.samples[i].sequence = sequence;
	area.samples[i].check = mtag_heap_check(&area.samples[i]);
}

/* A large object was freed unseen, others lie in its place, one of which was freed unseen before. */
static void stale(void)
{
	begin(MTAG_HEAP_SAMPLED);
	later(0, BASE, 1000, UINT32_MAX);
	later(1, BASE + 100, 100, UINT32_MAX - 1);
	later(2, BASE + 200, 100, 0);
	later(3, BASE + 300, 100, 1);
	later(4, BASE + 1000, 100, UINT32_MAX - 2);
	ok(!heap_objects_read(&source, 4, &objects) && objects.n_objects == 3 &&
		   objects.skipped == 2 && objects.objects[0].address == BASE + 200 &&
		   objects.objects[1].address == BASE + 300 &&
		   objects.objects[2].address == BASE + 1000,
	   "of those that overlap the later ones are taken");
	heap_objects_clear(&objects);
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
	sites_sampled();
	sites_exact();
	sums();
	heads();
	samples();
	stale();
	snap_clear(&snap);
	return tap_end();
}
