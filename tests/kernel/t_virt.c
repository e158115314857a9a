// SPDX-License-Identifier: GPL-2.0
/* Rule 4, I2 and event counts: virtual size belongs to the tag that mapped it; calls to their caller's. */
/* vm: */
#include "lib/test.h"
#include <alloca.h>
#include <sys/shm.h>

#define N    64
#define ROOM (1024 * MIB)

static mtag_t a, b, w;

static char *map_as(mtag_t as, char *where, size_t pages)
{
	mtag_t before = mtag_enter(as);
	char *p = must(mmap(where, pages * PG, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0));

	mtag_leave(before);
	return p;
}

static void unmap_as(mtag_t as, char *p, size_t pages)
{
	mtag_t before = mtag_enter(as);

	must(munmap(p, pages * PG));
	mtag_leave(before);
}

static void sizes(uint64_t of_a, uint64_t of_b, const char *when)
{
	is(virt_of(a), of_a * PG, "%s: virtual size of tag a", when);
	is(virt_of(b), of_b * PG, "%s: virtual size of tag b", when);
	is(virt_of(w), 0, "%s: nothing is the worker's", when);
	exact("%s: the sum is VmSize", when);
}

static void ranges(void)
{
	char *p = map_as(a, NULL, N);

	sizes(N, 0, "mapped");
	map_as(b, p + N / 4 * PG, N / 4);
	sizes(N - N / 4, N / 4, "mapped over by another tag");
	must(mprotect(p + 3 * PG, (N / 2) * PG, PROT_READ));
	sizes(N - N / 4, N / 4, "split by mprotect");
	must(mprotect(p, N * PG, PROT_READ | PROT_WRITE));
	sizes(N - N / 4, N / 4, "merged by mprotect");
	unmap_as(w, p + N / 4 * PG - 2 * PG, 4);
	sizes(N - N / 4 - 2, N / 4 - 2, "a hole over the border");
	unmap_as(w, p, N);
	sizes(0, 0, "unmapped, hole included");
}

static void grown(void)
{
	char *p = map_as(a, NULL, N), *q;
	mtag_t before = mtag_enter(w);

	q = must(mremap(p, N * PG, 4 * N * PG, MREMAP_MAYMOVE));
	mtag_leave(before);
	sizes(4 * N, 0, "grown by mremap");
	before = mtag_enter(w);
	q = must(mremap(q, 4 * N * PG, 4 * N * PG, MREMAP_MAYMOVE | MREMAP_FIXED,
			map_as(b, NULL, 4 * N)));
	mtag_leave(before);
	sizes(4 * N, 0, "moved by mremap over another's");
	before = mtag_enter(w);
	must(mremap(q, 4 * N * PG, PG, 0));
	mtag_leave(before);
	sizes(1, 0, "shrunk by mremap");
	unmap_as(w, q, 1);
	sizes(0, 0, "unmapped");
}

static void retagged(void)
{
	char *p = map_as(a, NULL, N);

	must0(mtag_range(p + PG, N / 2 * PG, b, 0));
	sizes(N / 2, N / 2, "given to another tag by mtag_range");
	must0(mtag_range(p, N * PG, a, 0));
	sizes(N, 0, "and back");
	unmap_as(0, p, N);
	sizes(0, 0, "unmapped");
}

static void forked(void)
{
	char *p = map_as(a, NULL, N), *q = map_as(b, NULL, N);

	in_child {
		sizes(N, N, "in a child");
		unmap_as(w, p, N / 2);
		sizes(N / 2, N, "in a child that unmapped");
		is(c(w, MTAG_C_MUNMAPS), 1, "a child's calls are its own");
	}
	sizes(N, N, "in its parent");
	unmap_as(0, p, N);
	unmap_as(0, q, N);
}

static __attribute__((noinline)) void deep(void)
{
	volatile char *room = alloca(MIB);

	for (size_t at = MIB; at > 0; at -= PG)
		room[at - 1] = 1;
}

static void stack(void)
{
	uint64_t before = usage_sum().c[MTAG_C_VIRT];

	deep();
	ok(usage_sum().c[MTAG_C_VIRT] >= before + MIB / 2, "stack growth is virtual size");
	exact("stack growth: the sum is VmSize");
}

static void heap(void)
{
	mtag_t before;
	char *p = sbrk(0), *start = (char *)(((uintptr_t)p + PG - 1) & -PG);
	uint64_t brks = c(a, MTAG_C_BRKS), bytes = c(a, MTAG_C_BRK_BYTES);

	must(brk(start));
	before = mtag_enter(a);
	must(brk(start + N * PG));
	mtag_leave(before);
	sizes(N, 0, "brk");
	is(c(a, MTAG_C_BRKS), brks + 1, "brk is counted");
	is(c(a, MTAG_C_BRK_BYTES), bytes + N * PG, "with its bytes");
	before = mtag_enter(b);
	must(brk(start + 2 * N * PG));
	mtag_leave(before);
	sizes(N, N, "brk under two tags in one mapping");
	before = mtag_enter(w);
	must(brk(start));
	mtag_leave(before);
	sizes(0, 0, "brk shrunk");
	must(brk(p));
	exact("brk: the sum is VmSize");
}

static void counts(void)
{
	mtag_t t = tag("counts"), before;
	char *p, *room = area(PG);
	struct usage u;

	before = mtag_enter(t);
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	    mmap(NULL, PG, PROT_READ, MAP_PRIVATE, -1, 0) != MAP_FAILED)
		bail("bad mmap works");
	must(munmap(p, PG));
	must(munmap(p + (N - 1) * PG, PG));
	if (!munmap(p + 1, PG))
		bail("bad munmap works");
	p = must(mremap(p + PG, (N - 2) * PG, (N - 4) * PG, 0));
	must(munmap(p, (N - 4) * PG));
	mtag_leave(before);
	u = usage(t);
	is(u.c[MTAG_C_MMAPS], 1, "an mmap that worked is counted, two that failed are not");
	is(u.c[MTAG_C_MMAP_BYTES], N * PG, "with its bytes");
	is(u.c[MTAG_C_MUNMAPS], 3, "three munmaps are counted, one that failed is not");
	is(u.c[MTAG_C_MUNMAP_BYTES], (N - 2) * PG, "with their bytes");
	is(u.c[MTAG_C_MREMAPS], 1, "mremap is counted");
	is(u.c[MTAG_C_BRKS] + u.c[MTAG_C_SHMATS] + u.c[MTAG_C_SHMDTS], 0, "and nothing else");
	is(u.c[MTAG_C_VIRT], 0, "all of it is unmapped");
	before = mtag_enter(t);
	if (!brk((void *)0x7ffff0000000) || !shmdt(&u) ||
	    mremap(room, PG, SIZE_MAX - MIB, 0) != MAP_FAILED)
		bail("bad calls work");
	mtag_leave(before);
	u = usage(t);
	is(u.c[MTAG_C_BRKS], 0, "a brk that failed is not counted");
	is(u.c[MTAG_C_SHMDTS], 0, "nor is a shmdt");
	is(u.c[MTAG_C_MREMAPS], 1, "nor an mremap");
	/* A mapping in place of another is one mmap, no munmap. */
	p = map_as(t, NULL, N);
	map_as(t, p, N);
	u = usage(t);
	is(u.c[MTAG_C_MMAPS], 3, "mapping over counts as mmap");
	is(u.c[MTAG_C_MUNMAPS], 3, "and not as munmap");
	is(virt_of(t), N * PG, "and its virtual size once");
	unmap_as(0, p, N);
	exact("counts: the sum is VmSize");
}

static void file_and_reserved(void)
{
	mtag_t before = mtag_enter(a);
	int fd = open("/proc/self/exe", O_RDONLY);
	char *p = must(mmap(NULL, 3 * PG + 1, PROT_READ, MAP_PRIVATE, fd, 0));
	char *q = must(mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0));

	mtag_leave(before);
	sizes(4 + ROOM / PG, 0, "a file and reserved room");
	unmap_as(w, p, 4);
	unmap_as(w, q, ROOM / PG);
	sizes(0, 0, "unmapped");
	close(fd);
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("worker");
	exact("at first: the sum is VmSize");
	ranges();
	grown();
	retagged();
	forked();
	stack();
	heap();
	counts();
	file_and_reserved();
	return end_test();
}
