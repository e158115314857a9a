// SPDX-License-Identifier: GPL-2.0
/* Rules 2 and 4: mremap in all its forms keeps owners, and ranges their tag. */
/* vm: core=1 group=parallel thread=multi mem=1G */
/* vm: brief=1 timeout=400 */
#include "lib/test.h"

#define N 96

static mtag_t a, b, m, w;

/* An area mapped under m, with pages of a and b in turn. */
static char *two_owners(size_t pages)
{
	mtag_t before = mtag_enter(m);
	char *p = must(mmap(NULL, pages * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0));

	mtag_leave(before);
	no_huge(p, pages * PG);
	for (size_t i = 0; i < pages; i++)
		touch(i % 2 ? b : a, p + i * PG, PG);
	return p;
}

/* Calls mremap under w, which must get nothing for it. */
static char *remap(char *p, size_t from, size_t to, int flags, char *where)
{
	mtag_t before = mtag_enter(w);
	char *q = must(mremap(p, from, to, flags, where));

	mtag_leave(before);
	return q;
}

static void have(uint64_t of_a, uint64_t of_b, uint64_t virt, const char *what)
{
	is(anon_of(a), of_a * PG, "%s: pages of tag a", what);
	is(anon_of(b), of_b * PG, "%s: pages of tag b", what);
	is(virt_of(m), virt * PG, "%s: virtual size of the mapper", what);
	is(anon_of(w), 0, "%s: nothing is the caller's", what);
	exact("%s: exact", what);
}

static void resized(void)
{
	char *p = two_owners(N);

	have(N / 2, N / 2, N, "before");
	p = remap(p, N * PG, 2 * N * PG, MREMAP_MAYMOVE, NULL);
	have(N / 2, N / 2, 2 * N, "grown");
	touch(a, p + N * PG, N * PG);
	have(N / 2 + N, N / 2, 2 * N, "the new part touched");
	p = remap(p, 2 * N * PG, N / 4 * PG, 0, NULL);
	have(N / 8, N / 8, N / 4, "shrunk");
	must(munmap(p, N / 4 * PG));
	have(0, 0, 0, "unmapped");
}

static void relocated(void)
{
	char *p = two_owners(N), *q = area(N * PG), *r;

	r = remap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, q);
	is((uintptr_t)r, (uintptr_t)q, "moved to where it was told");
	have(N / 2, N / 2, N, "moved over an empty mapping");
	is(present(q, N * PG), N * PG, "pagemap finds the pages there");
	must(munmap(q + N / 2 * PG, N / 2 * PG));
	have(N / 4, N / 4, N / 2, "half of what moved unmapped");
	must(munmap(q, N / 2 * PG));
	have(0, 0, 0, "all of it unmapped");

	p = two_owners(N);
	q = two_owners(3 * N);
	have(2 * N, 2 * N, 4 * N, "two mappings");
	/* An odd number of pages, to an odd place: into the middle of another one with owners. */
	remap(p + PG, (N - 3) * PG, (N - 3) * PG, MREMAP_MAYMOVE | MREMAP_FIXED, q + (N + 1) * PG);
	have(2 * N - (N - 3) / 2, 2 * N - (N - 2) / 2, 3 * N + 3,
	     "moved over others' pages, which end");
	must(munmap(q, 3 * N * PG));
	must(munmap(p, PG));
	must(munmap(p + (N - 2) * PG, 2 * PG));
	have(0, 0, 0, "everything unmapped");
}

static void left_mapped(void)
{
	char *p = two_owners(N), *q;

	q = remap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	have(N / 2, N / 2, 2 * N, "MREMAP_DONTUNMAP");
	is(smaps(p, N * PG).rss, 0, "the old place is empty");
	touch(a, p, N * PG);
	have(N / 2 + N, N / 2, 2 * N, "the old place touched anew");
	must(munmap(q, N * PG));
	have(N, 0, N, "the new place unmapped");
	must(munmap(p, N * PG));
	have(0, 0, 0, "the old place unmapped");
}

static void scattered(void)
{
	char *p = two_owners(N), *q = area(4 * N * PG);

	/* Page by page, to twice the distance and in reverse. */
	for (size_t i = 0; i < N; i++)
		remap(p + i * PG, PG, PG, MREMAP_MAYMOVE | MREMAP_FIXED, q + 2 * (N - i) * PG);
	have(N / 2, N / 2, N, "scattered page by page");
	for (size_t i = 0; i < N; i += 2)
		must(munmap(q + 2 * (N - i) * PG, PG));
	have(0, N / 2, N / 2, "a's pages unmapped one by one");
	must(munmap(q, 4 * N * PG));
	have(0, 0, 0, "all unmapped");
}

static void huge(void)
{
	mtag_t before = mtag_enter(m);
	char *p = must(mmap(NULL, 3 * HPAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0));
	char *start = (char *)(((uintptr_t)p + HPAGE - 1) & -HPAGE), *q, *aligned;

	mtag_leave(before);
	/* Without huge pages in the kernel as many small ones are moved. */
	madvise(p, 3 * HPAGE, MADV_HUGEPAGE);
	touch(a, start, HPAGE);
	touch(b, start + HPAGE, HPAGE);
	q = area_prot(2 * HPAGE, HPAGE, PROT_NONE);
	aligned = remap(start, 2 * HPAGE, 2 * HPAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
	have(HPAGE / PG, HPAGE / PG, 3 * HPAGE / PG, "huge pages moved, aligned");
	q = area_prot(4 * HPAGE, HPAGE, PROT_NONE);
	q += 5 * PG;
	remap(aligned, 2 * HPAGE, 2 * HPAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
	have(HPAGE / PG, HPAGE / PG, 3 * HPAGE / PG, "huge pages moved, not aligned");
	must(munmap(q, HPAGE));
	have(0, HPAGE / PG, 2 * HPAGE / PG, "the first one unmapped");
	must(munmap(q, 2 * HPAGE));
	must(munmap(p, 3 * HPAGE));
	have(0, 0, 0, "all unmapped");
}

static void shared(int fd, int flags, int counter, const char *what)
{
	mtag_t before = mtag_enter(m);
	char *p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, flags, fd, 0)), *q;

	mtag_leave(before);
	touch(w, p, N * PG);
	is(c(m, counter), N * PG, "%s: the mapper's", what);
	q = remap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, area(N * PG));
	is(c(m, counter), N * PG, "%s: moved, still the mapper's", what);
	have(0, 0, N, what);
	must(munmap(q, N / 2 * PG));
	is(c(m, counter), N / 2 * PG, "%s: half unmapped", what);
	q = remap(q + N / 2 * PG, N / 2 * PG, N * PG, MREMAP_MAYMOVE, NULL);
	is(virt_of(m), N * PG, "%s: grown", what);
	must(munmap(q, N / 4 * PG));
	is(c(m, counter), smaps(q, N * PG).rss, "%s: as smaps says", what);
	must(munmap(q, N * PG));
	is(c(m, counter), 0, "%s: all unmapped", what);
	have(0, 0, 0, what);
}

static void failed(void)
{
	char *p = two_owners(N);
	uint64_t calls = c(w, MTAG_C_MREMAPS);
	mtag_t before = mtag_enter(w);

	ok(mremap(p, N * PG, SIZE_MAX - MIB, MREMAP_MAYMOVE) == MAP_FAILED,
	   "an mremap too big fails");
	ok(mremap(p + 1, PG, PG, MREMAP_MAYMOVE) == MAP_FAILED, "an mremap not aligned fails");
	mtag_leave(before);
	have(N / 2, N / 2, N, "failed calls change nothing");
	is(c(w, MTAG_C_MREMAPS), calls, "and are not counted");
	p = remap(p, N * PG, N / 2 * PG, 0, NULL);
	is(c(w, MTAG_C_MREMAPS), calls + 1, "one that works is, under the caller's tag");
	must(munmap(p, N / 2 * PG));
}

static void forked(void)
{
	char *p = two_owners(N);

	in_child {
		char *q = remap(p, N * PG, 2 * N * PG, MREMAP_MAYMOVE, NULL);

		have(N / 2, N / 2, 2 * N, "in a child, grown");
		touch(w, q, N * PG);
		have(N / 2, N / 2, 2 * N, "in a child, copied where it moved to");
		must(munmap(q, 2 * N * PG));
		have(0, 0, 0, "in a child, unmapped");
	}
	have(N / 2, N / 2, N, "the parent's stay");
	must(munmap(p, N * PG));
}

/* The kernel joins a mapping that comes back to the one behind it, whose pages are another tag's. */
static void joined(void)
{
	int fd = must(memfd_create("joined", MFD_CLOEXEC));
	char *p = area(2 * N * PG), *q;
	mtag_t before;

	must(ftruncate(fd, 2 * N * PG));
	for (int half = 0; half < 2; half++) {
		before = mtag_enter(half ? b : m);
		must(mmap(p + half * N * PG, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			  fd, half * N * PG));
		mtag_leave(before);
	}
	touch(w, p, 2 * N * PG);
	q = remap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, area(N * PG));
	remap(q, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, p);
	is(smaps(p, 2 * N * PG).vmas, 1, "joined: one mapping");
	is(virt_of(b), N * PG, "joined: the half behind keeps its tag");
	must(madvise(p + N * PG, N * PG, MADV_DONTNEED));
	is(c(b, MTAG_C_SHMEM), 0, "joined: and its pages");
	is(c(m, MTAG_C_SHMEM), N * PG, "joined: as the half in front does");
	must(munmap(p, 2 * N * PG));
	is(c(m, MTAG_C_SHMEM), 0, "joined: all unmapped");
	close(fd);
	have(0, 0, 0, "joined");
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	b = tag("b");
	m = tag("mapper");
	w = tag("worker");
	spew("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "1000000");
	resized();
	relocated();
	left_mapped();
	scattered();
	huge();
	shared(-1, MAP_SHARED | MAP_ANONYMOUS, MTAG_C_SHMEM, "shared anonymous memory");
	if (real_fs()) {
		int fd = must(open(FS "/mremap", O_RDWR | O_CREAT | O_TRUNC, 0600));

		must(ftruncate(fd, 2 * N * PG));
		shared(fd, MAP_SHARED, MTAG_C_FILE, "a file");
	} else {
		skip("a file is moved exactly (no file system)");
	}
	failed();
	forked();
	joined();
	return end_test();
}
