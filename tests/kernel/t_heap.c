// SPDX-License-Identifier: GPL-2.0
/*
 * Owners by address: every page of a process is told as pagemap has it and as it was touched, and the pages of each tag
 * are as many as its counters say. The area of a heap view: read by who may read smaps, and by reading nothing comes.
 */
/* vm: timeout=200 */
#include "lib/folios.h"
#include "lib/keepers.h"
#include "lib/owners.h"
#include "lib/users.h"

#define N	 96
#define AREA	 64
#define MAX_SPAN 4096

static mtag_t a, b;
static bool swaps;

/* ---- owners ---- */

/* Pages by turns: of a, of b, never touched, only read. */
static char *four_kinds(void)
{
	char *p = area(N * PG);

	for (size_t i = 0; i < N; i += 4) {
		touch(a, p + i * PG, PG);
		touch(b, p + (i + 1) * PG, PG);
		read_all(a, p + (i + 3) * PG, PG);
	}
	return p;
}

static uint32_t touched_row(size_t i)
{
	const uint32_t row[] = {a | MTAG_OWNER_PRESENT, b | MTAG_OWNER_PRESENT, 0, MTAG_OWNER_ZERO};

	return row[i % 4];
}

/* How many rows are not as they were touched, or not as pagemap has them. */
static unsigned wrong_rows(const char *p, const uint32_t *row)
{
	uint64_t word[N];
	unsigned wrong = 0;

	pagemap(p, N, word);
	for (size_t i = 0; i < N; i++) {
		uint32_t want = touched_row(i);

		if (word[i] & PAGEMAP_SWAP)
			want = (want & MTAG_OWNER_TAG) | MTAG_OWNER_SWAP;
		wrong += row[i] != want;
		wrong += !!(row[i] & (MTAG_OWNER_PRESENT | MTAG_OWNER_ZERO)) !=
			 !!(word[i] & PAGEMAP_PRESENT);
	}
	return wrong;
}

static void as_touched(void)
{
	char *p = four_kinds();
	uint32_t row[N];

	must0(owners_of(0, p, N, row));
	is(wrong_rows(p, row), 0, "each page is told as it was touched, and as pagemap says");
	in_child {
		uint32_t theirs[N];

		must0(owners_of(getppid(), p, N, theirs));
		ok(!memcmp(theirs, row, sizeof(row)),
		   "a forked child is told the same of its parent");
		must0(owners_of(0, p, N, theirs));
		ok(!memcmp(theirs, row, sizeof(row)), "and of itself");
		touch(b, p, PG);
		must0(owners_of(0, p, 1, theirs));
		is(theirs[0], row[0], "a copy stays with its owner");
	}
	if (swaps) {
		reclaim(p, N / 2 * PG);
		must0(owners_of(0, p, N, row));
		is(wrong_rows(p, row), 0, "pages in swap are told with their owners");
		ok(smaps(p, N * PG).swap > 0, "of which there are some");
		read_all(b, p, N / 2 * PG);
	}
	must(madvise(p, N / 2 * PG, MADV_DONTNEED));
	must(munmap(p + N / 2 * PG, N / 2 * PG));
	must0(owners_of(0, p, N, row));
	is(row[0] | row[1] | row[N - 4] | row[N - 3], 0, "what is discarded or unmapped is absent");
}

/* A huge page that is only read is one of zeros, which all processes share. */
static void huge_zeros(void)
{
	static uint32_t row[HPAGE / PG];
	static uint64_t word[HPAGE / PG];
	size_t wrong = 0;
	char *p = NULL;

	if (spew(THP "enabled", "madvise")) {
		skip("a huge page of zeros is told as zeros (no huge pages in this kernel)");
		return;
	}
	/* Where memory is in pieces, the kernel takes small ones. */
	for (int tries = 0; tries < 10; tries++) {
		if (p)
			must(munmap(p, HPAGE));
		p = area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE);
		must(madvise(p, HPAGE, MADV_HUGEPAGE));
		read_all(a, p, HPAGE);
		pagemap(p, HPAGE / PG, word);
		if ((word[1] & PAGEMAP_PFN) == (word[0] & PAGEMAP_PFN) + 1)
			break;
		compact_memory();
	}
	is(word[1] & PAGEMAP_PFN, (word[0] & PAGEMAP_PFN) + 1,
	   "what is read is a huge page of zeros");
	must0(owners_of(0, p, HPAGE / PG, row));
	for (size_t i = 0; i < HPAGE / PG; i++)
		wrong += row[i] != MTAG_OWNER_ZERO;
	is(wrong, 0, "which is told as zeros");
	must(munmap(p, HPAGE));
}

/* The answer does not depend on how it is asked for. */
static void in_parts(void)
{
	char *p = four_kinds();
	struct mtag_ioc_span spans[N];
	uint32_t row[N], parts[N];
	unsigned wrong = 0;

	must0(owners_of(0, p, N, row));
	for (uint32_t room = 1; room <= N; room += 5) {
		struct mtag_ioc_span all = {(uintptr_t)p, (uintptr_t)p + N * PG};

		memset(parts, 0xff, sizeof(parts));
		must0(owners_of_spans(0, &all, 1, parts, room));
		wrong += !!memcmp(parts, row, sizeof(row));
	}
	is(wrong, 0, "with room for a few pages at a time the answer is the same");
	for (size_t i = 0; i < N; i++) {
		spans[i].start = (uintptr_t)p + (N - 1 - i) * PG;
		spans[i].end = spans[i].start + PG;
	}
	must0(owners_of_spans(0, spans, N, parts, N));
	for (size_t i = 0; i < N; i++)
		wrong += parts[i] != row[N - 1 - i];
	is(wrong, 0, "so it is page by page in descending order");
	must(munmap(p, N * PG));
}

/* All mappings but hugetlb's, of which there are none here. */
static uint32_t spans_of_all(struct mtag_ioc_span *spans, uint64_t *pages)
{
	char *line = slurp("/proc/self/maps");
	uint32_t nr = 0;

	for (*pages = 0; line && *line; line = strchr(line, '\n') + 1) {
		char *dash;
		uint64_t start = strtoull(line, &dash, 16), end = strtoull(dash + 1, NULL, 16);

		if (start >> 63)
			continue;
		if (nr == MAX_SPAN)
			bail("too many mappings");
		spans[nr++] = (struct mtag_ioc_span){start, end};
		*pages += (end - start) / PG;
	}
	return nr;
}

static uint64_t count(const uint32_t *row, uint64_t pages, uint32_t mask, uint32_t want)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < pages; i++)
		n += (row[i] & mask) == want;
	return n * PG;
}

/* Tags whose rows are not as many as their counters say. */
static unsigned wrong_tags(const uint32_t *row, uint64_t pages)
{
	const uint32_t all = MTAG_OWNER_TAG | MTAG_OWNER_PRESENT | MTAG_OWNER_FILE;
	unsigned wrong = 0;
	struct usage u;

	for (mtag_t tag = 0; !usage_get(tag, &u); tag++) {
		wrong += count(row, pages, all, tag | MTAG_OWNER_PRESENT) != u.c[MTAG_C_ANON];
		wrong += count(row, pages, all, tag | MTAG_OWNER_PRESENT | MTAG_OWNER_FILE) !=
			 u.c[MTAG_C_FILE] + u.c[MTAG_C_SHMEM];
		wrong += count(row, pages, MTAG_OWNER_TAG | MTAG_OWNER_SWAP,
			       tag | MTAG_OWNER_SWAP) != u.c[MTAG_C_SWAP];
	}
	return wrong;
}

/* A process with memory of all kinds that does not run: all of its pages, asked for by itself before. */
static void whole_process(void)
{
	static struct mtag_ioc_span spans[MAX_SPAN];
	char *huge = huge_area(2 * HPAGE), *p = four_kinds(), *shared;
	uint64_t pages, rss = 0;
	uint32_t *row, nr;
	unsigned wrong = 1;

	shared =
		must(mmap(NULL, 8 * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	touch(a, huge, HPAGE);
	touch(b, huge + HPAGE, 3 * PG);
	touch(b, shared, 5 * PG);
	/* The rows of all pages are themselves memory: touched before they are asked for. */
	nr = spans_of_all(spans, &pages);
	row = must(mmap(NULL, pages * 8 + HPAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
	for (int i = 0; i < 10 && wrong; i++) {
		struct compared before = compare(), after;

		nr = spans_of_all(spans, &pages);
		must0(owners_of_spans(0, spans, nr, row, pages));
		after = compare();
		wrong = wrong_tags(row, pages);
		rss = count(row, pages, MTAG_OWNER_PRESENT, MTAG_OWNER_PRESENT);
		wrong += rss != after.truth.rss || before.truth.rss != after.truth.rss;
	}
	is(wrong, 0, "the pages of each tag are as many as it is charged, and all are the RSS");
	is(count(row, pages, 0, 0), pages * PG, "of %u mappings", nr);
	must(munmap(row, pages * 8 + HPAGE));
	must(munmap(shared, 8 * PG));
	must(munmap(p, N * PG));
	must(munmap(huge, 2 * HPAGE));
}

static void owners_refused(void)
{
	char *p = area(2 * PG);
	struct mtag_ioc_span span = {(uintptr_t)p, (uintptr_t)p + 2 * PG};
	struct mtag_ioc_owners good = {.size = sizeof(good),
				       .nr_spans = 1,
				       .spans = (uintptr_t)&span,
				       .pages = (uintptr_t)p,
				       .room = 2},
			       o;

#define REFUSED(error, set, what)                                                                  \
	do {                                                                                       \
		o = good;                                                                          \
		set;                                                                               \
		is(mtag_ioctl(MTAG_IOC_OWNERS, &o), (uint64_t) - (error), "OWNERS, " what);        \
		span = (struct mtag_ioc_span){(uintptr_t)p, (uintptr_t)p + 2 * PG};                \
	} while (0)

	REFUSED(EINVAL, span.end = span.start, "an empty span");
	REFUSED(EINVAL, span.start++, "an address within a page");
	REFUSED(EINVAL, span.end = span.start - PG, "a span that ends before it starts");
	REFUSED(EINVAL, span.end = -PG, "a span that ends in the kernel");
	REFUSED(EINVAL, o.next = span.end, "a cursor behind its span");
	REFUSED(EINVAL, o.next = span.start + 1, "a cursor within a page");
	REFUSED(EINVAL, o.span = 2, "a cursor behind all spans");
	REFUSED(EFAULT, o.spans = 8, "spans at a bad address");
	REFUSED(EFAULT, o.pages = 1ULL << 63, "pages at a bad address");
	REFUSED(ESRCH, o.pid = 0x7fffffff, "no such process");
	REFUSED(ESRCH, o.pid = 0x80000000, "no such pid");
	REFUSED(0, o.room = 0, "no room, which is nothing done");
	REFUSED(0, span = ((struct mtag_ioc_span){PG, 1ULL << 40}),
		"a terabyte, as far as there is room");
	is(o.filled == 2 && o.span == 0 && o.next == 3 * PG, 1, "and where to go on");
	exact("what is refused changes nothing");
	must(munmap(p, 2 * PG));
}

/* ---- the area ---- */

static char *some_area(void)
{
	char *p = area(AREA * PG);

	/* A hole of pages never touched between others. */
	for (size_t i = 0; i < AREA; i++)
		if (i < 8 || i > 50)
			memset(p + i * PG, (int)i + 1, PG);
	return p;
}

static void read_by_others(void)
{
	static char copy[AREA * PG];
	struct smaps before, after;
	struct gate *g = gate();
	char *p = some_area();
	pid_t pid;

	must0(heap_set(p, AREA * PG));
	before = smaps(p, AREA * PG);
	is(heap_read(0, 0, copy, AREA * PG), AREA * PG, "a process reads its area");
	after = smaps(p, AREA * PG);
	is(after.rss, before.rss, "and no page comes in by that");
	ok(!memcmp(copy, p, AREA * PG), "what was never touched reads as zeros");
	must(munmap(p + 8 * PG, PG));
	must(mmap(p + 8 * PG, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		  -1, 0));
	is(heap_read(0, 7 * PG + 5, copy, 2 * PG), 2 * PG, "a piece from within a page");
	ok(!memcmp(copy, p + 7 * PG + 5, 2 * PG), "is what is there");
	is(heap_read(0, AREA * PG - 10, copy, 100), 10, "a piece at the end is cut");
	is(heap_read(0, AREA * PG, copy, 100), 0, "behind it there is nothing");
	is(heap_read(0, AREA * PG + 1, copy, 1), (uint64_t)-EINVAL, "and further on no area");
	pid = child();
	if (!pid) {
		p[0] = 99;
		open_gate(g, 1);
		pass_gate(g, 2);
		must0(heap_set(NULL, 0));
		open_gate(g, 3);
		pass_gate(g, 4);
		_exit(0);
	}
	pass_gate(g, 1);
	is(heap_read(pid, 0, copy, 1), 1, "a forked child inherits its area");
	is(copy[0], 99, "and has a copy of what was in it");
	in_child {
		user(BOB);
		is(heap_read(pid, 0, copy, 1), (uint64_t)-EACCES, "another user may not read it");
		is(owners_of(pid, p, 1, (uint32_t *)copy), (uint64_t)-EACCES, "nor ask for owners");
		is(heap_read(0, 0, copy, 1), 1, "but his own");
	}
	open_gate(g, 2);
	pass_gate(g, 3);
	is(heap_read(pid, 0, copy, 1), (uint64_t)-ENODATA, "withdrawn, there is none");
	open_gate(g, 4);
	reap(pid);
	is(heap_read(pid, 0, copy, 1), (uint64_t)-ESRCH, "of a process that has ended neither");
	if (swaps && page_out(p, 8 * PG)) {
		is(heap_read(0, 0, copy, 8 * PG), 8 * PG, "what is in swap is read");
		ok(copy[7 * PG] == 8, "as it was");
	}
	exact("reading leaves all counted");
	must(munmap(p, AREA * PG));
	is(heap_read(0, 0, copy, 1), (uint64_t)-ENXIO, "an area that is unmapped cannot be read");
	must0(heap_set(NULL, 0));
}

static void areas_refused(void)
{
	char *p = area(4 * PG), *shared, byte;
	struct mtag_ioc_heap ask = {.size = sizeof(ask), .flags = MTAG_HEAP_ASK};
	mtag_t before = mtag_enter(b);

	must0(mtag_ioctl(MTAG_IOC_HEAP, &ask));
	mtag_leave(before);
	is(ask.tag, b, "a thread asks for its current tag");
	is(*(uint32_t *)(uintptr_t)ask.address, mtag_current(), "and where that is");
	is(heap_read(0, 0, &byte, 1), (uint64_t)-ENODATA, "that registers nothing");
	ask.address = (uintptr_t)p;
	is(mtag_ioctl(MTAG_IOC_HEAP, &ask), (uint64_t)-EINVAL, "and takes no address");
	is(heap_set(p + 1, PG), (uint64_t)-EINVAL, "an area within a page is refused");
	is(heap_set(p, PG + 1), (uint64_t)-EINVAL, "so is one that ends in a page");
	is(heap_set(p, 0), (uint64_t)-EINVAL, "an empty one");
	is(heap_set(NULL, PG), (uint64_t)-EINVAL, "one at 0");
	is(heap_set((void *)-PG, PG), (uint64_t)-EINVAL, "one in the kernel");
	is(heap_set(p, MTAG_HEAP_MAX + PG), (uint64_t)-EINVAL, "and one that is too large");
	shared = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	touch(0, shared, PG);
	must0(heap_set(shared, PG));
	is(heap_read(0, 0, &byte, 1), (uint64_t)-ENXIO, "shared memory is no area that is read");
	touch(0, p, 4 * PG);
	must(mprotect(p, PG, PROT_NONE));
	must0(heap_set(p, 4 * PG));
	is(heap_read(0, 0, &byte, 1), (uint64_t)-ENXIO, "nor what the process may not read itself");
	is(heap_read(0, PG, (char *)8, 1), (uint64_t)-EFAULT, "a bad buffer is told");
	must0(heap_set(NULL, 0));
	must(munmap(p, 4 * PG));
	must(munmap(shared, PG));
}

/* A program that another one has become has no area of that one. */
static void forgotten_by_exec(void)
{
	char *const argv[] = {"cat", NULL};
	char *p = some_area(), byte;
	struct spoken cat;

	must0(heap_set(p, AREA * PG));
	cat = speak_to(argv);
	fputs("x\n", cat.in);
	fflush(cat.in);
	must(fgetc(cat.out) == 'x' ? 0 : -1);
	is(heap_read(cat.pid, 0, &byte, 1), (uint64_t)-ENODATA, "exec forgets the area");
	is(owners_of(cat.pid, p, 1, (uint32_t[1]){0}), 0, "of a program that is tracked");
	fclose(cat.in);
	reap(cat.pid);
	must0(heap_set(NULL, 0));
	must(munmap(p, AREA * PG));
}

int main(void)
{
	begin_test();
	in_child {
		char byte;

		mtag_fd();
		is(heap_set((void *)PG, PG), (uint64_t)-ESRCH, "who is not tracked has no area");
		is(heap_read(0, 0, &byte, 1), (uint64_t)-ESRCH, "reads none of its own");
		is(owners_of(0, (void *)PG, 1, (uint32_t[1]){0}), (uint64_t)-ESRCH,
		   "and owns no page");
	}
	swaps = swap_zram();
	begin();
	a = tag("a");
	b = tag("b");
	as_touched();
	huge_zeros();
	in_parts();
	whole_process();
	owners_refused();
	read_by_others();
	areas_refused();
	forgotten_by_exec();
	swapoff_all();
	return end_test();
}
