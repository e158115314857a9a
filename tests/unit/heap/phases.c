// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Phases of known truth, with libmtag-heap preloaded: each under a tag of its own, so that what the C
 * library allocates meanwhile is not counted with it. What is alive is summed up here, with
 * malloc_usable_size(3); what the library says is read from outside, by /proc/self/mem.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <time.h>

#include "truth.h"

#define N 20000

static void test_small(void)
{
	struct truth truth = truth_of(N);

	enter(10);
	for (size_t i = 0; i < N; i++)
		hold(&truth.objects[i], malloc(size_at(i, 600)), size_at(i, 600));
	compare(10, &truth);
	for (size_t i = 0; i < N; i += 3)
		drop(&truth.objects[i]);
	compare(10, &truth);
	drop_all(&truth);
	compare(10, &truth);
}

static void test_calloc(void)
{
	struct truth truth = truth_of(N);
	size_t i, j;

	enter(11);
	for (i = 0; i < N; i++) {
		size_t size = size_at(i, 300);
		unsigned char *p = calloc(3, size);

		for (j = 0; j < 3 * size; j++)
			CHECK(!p[j]);
		hold(&truth.objects[i], p, 3 * size);
		if (i % 2)
			drop(&truth.objects[i]);
	}
	compare(11, &truth);
	drop_all(&truth);
	compare(11, &truth);
}

static void test_large(void)
{
	struct truth truth = truth_of(100);
	size_t i;

	enter(12);
	for (i = 0; i < truth.n; i++) {
		size_t size = 100000 + size_at(i, 1 << 20);

		hold(&truth.objects[i], malloc(size), size);
	}
	compare(12, &truth);
	for (i = 0; i < truth.n; i += 2)
		drop(&truth.objects[i]);
	compare(12, &truth);
	drop_all(&truth);
	compare(12, &truth);
}

/* Every way to ask for an alignment, and pages of it, where the page in front may not exist. */
static void *aligned(unsigned way, size_t alignment, size_t *size)
{
	void *p = NULL;

	switch (way % 5) {
	case 0:
		return memalign(alignment, *size);
	case 1:
		*size = (*size + alignment - 1) / alignment * alignment;
		return aligned_alloc(alignment, *size);
	case 2:
		return posix_memalign(&p, alignment, *size) ? NULL : p;
	case 3:
		return valloc(*size);
	default:
		*size = (*size + 4095) / 4096 * 4096;
		return pvalloc(*size);
	}
}

static void test_aligned(void)
{
	struct truth truth = truth_of(5000);

	enter(13);
	for (size_t i = 0; i < truth.n; i++) {
		size_t alignment = (size_t)8 << i % 14, size = size_at(i, 9000);
		void *p = aligned((unsigned)i, alignment, &size);

		/* Not all allocators keep to it. */
		CHECK(!exact || (uintptr_t)p % (i % 5 < 3 ? alignment : 4096) == 0);
		hold(&truth.objects[i], p, size);
		if (i % 3 == 1)
			drop(&truth.objects[i]);
	}
	compare(13, &truth);
	drop_all(&truth);
	compare(13, &truth);
}

/* Grown and shrunk under another tag: the first one stays the owner. */
static void test_realloc(void)
{
	struct truth truth = truth_of(3000);
	size_t i, round;

	for (i = 0; i < truth.n; i++) {
		enter(14);
		hold(&truth.objects[i], malloc(32 + i % 100), 32 + i % 100);
		enter(exact ? 15 : 14);
		for (round = 0; round < 8; round++) {
			size_t size = 1 + size_at(i * 8 + round, round < 6 ? 400u << round : 5000);

			hold(&truth.objects[i],
			     round % 2 ? realloc(truth.objects[i].p, size)
				       : reallocarray(truth.objects[i].p, size, 1),
			     size);
		}
	}
	compare(14, &truth);
	for (i = 0; i < truth.n; i += 2) {
		/* Some allocators give an object of no size. */
		truth.objects[i].p = realloc(truth.objects[i].p, 0);
		truth.objects[i].asked = 0;
	}
	compare(14, &truth);
	drop_all(&truth);
	compare(14, &truth);
	/* A mapping of its own, which moves as a whole. */
	hold(&truth.objects[0], malloc(1 << 20), 1 << 20);
	hold(&truth.objects[0], realloc(truth.objects[0].p, 40 << 20), 40 << 20);
	hold(&truth.objects[0], realloc(truth.objects[0].p, 3000), 3000);
	compare(exact ? 15 : 14, &truth);
	drop_all(&truth);
}

/* What can only fail changes nothing. */
static void test_failing(void)
{
	struct truth truth = truth_of(3);
	void *p = NULL;
	volatile size_t all = SIZE_MAX, half = PTRDIFF_MAX, two = 2;
	size_t i;

	enter(16);
	for (i = 0; i < 3; i++)
		hold(&truth.objects[i], malloc(5000 << i * 4), 5000 << i * 4);
	for (i = 0; i < 40; i++) {
		CHECK(!malloc(all - i) && (!exact || errno == ENOMEM));
		CHECK(!malloc(half + i) && !malloc(half - i % 4));
		CHECK(!calloc(half, two) && !calloc(all, all) && !calloc(all - i, 1));
		CHECK(!realloc(truth.objects[i % 3].p, all - i) &&
		      !realloc(truth.objects[i % 3].p, half - i));
		CHECK(!reallocarray(truth.objects[i % 3].p, all, two) && errno == ENOMEM);
		CHECK(!memalign(64, all - i) && !aligned_alloc(64, half - i) && !pvalloc(all - i));
		CHECK(posix_memalign(&p, 64, all - i) == ENOMEM && !p);
		CHECK(posix_memalign(&p, 3, 64) == EINVAL && !p);
	}
	errno = 7;
	free(NULL);
	free(malloc(100000));
	CHECK(errno == 7);
	compare(16, &truth);
	/* Counting goes on. */
	drop(&truth.objects[0]);
	hold(&truth.objects[0], malloc(60000), 60000);
	compare(16, &truth);
	drop_all(&truth);
	compare(16, &truth);
}

/* What the C library allocates for its caller counts as the caller's. */
static void test_libc(void)
{
	struct truth truth = truth_of(300);
	char text[300];
	size_t i;

	memset(text, 'x', sizeof(text));
	enter(23);
	for (i = 0; i < truth.n; i++) {
		text[i] = '\0';
		truth.objects[i] = (struct object){strdup(text), strlen(text) + 1};
		text[i] = 'x';
	}
	compare(23, &truth);
	drop_all(&truth);
	compare(23, &truth);
}

/* Small, large and never given back: estimates of the cells are those of the samples. */
static void test_cumulative(void)
{
	struct truth truth = truth_of(N);
	struct mtag_heap_cell cell;
	double asked = 0;
	size_t i;

	enter(24);
	for (i = 0; i < N; i++) {
		hold(&truth.objects[i], malloc(size_at(i, 5000)), size_at(i, 5000));
		asked += size_at(i, 5000);
		if (i % 2)
			drop(&truth.objects[i]);
	}
	compare(24, &truth);
	cell = reader_cell(&reader, 24);
	if (exact)
		CHECK(cell.asked_in == asked && cell.objects_in == N && cell.objects_out == N / 2);
	else
		CHECK(fabs((double)cell.asked_in - asked) <
		      6 * sqrt(asked * (double)reader.head.period));
}

/* The allocator is asked at the first sample. What it has is no less than what it tells of it. */
static void test_figures(void)
{
	const struct mtag_heap_figures *figures = &reader.head.figures;
	struct truth truth = truth_of(1);

	enter(25);
	hold(&truth.objects[0], malloc(64 << 20), 64 << 20);
	compare(25, &truth);
	CHECK(figures->time >= reader.head.begun && figures->cost);
	CHECK(figures->check == mtag_heap_check(figures));
	CHECK(figures->known & MTAG_HEAP_KNOWS_MAPPED);
	CHECK(figures->mapped >= figures->used + figures->retained + figures->metadata);
	drop_all(&truth);
}

/* A program that only frees is asked, too: within a second, or a thousand times of what that costs. */
static void test_figures_freed(void)
{
	enum { MANY = 4096 };
	const struct mtag_heap_figures *figures = &reader.head.figures;
	const struct timespec moment = {.tv_nsec = 20000000};
	const uint64_t full = MANY * UINT64_C(65536);
	struct truth truth = truth_of(MANY);
	sigset_t waited_for, before;
	size_t i;

	enter(26);
	for (i = 0; i < MANY; i++)
		hold(&truth.objects[i], malloc(65536), 65536);
	/* As a program does that reads its signals from a file. */
	sigemptyset(&waited_for);
	sigaddset(&waited_for, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &waited_for, &before);
	for (i = 0; i < MANY / 2; i++)
		drop(&truth.objects[i]);
	for (; i < MANY; i++) {
		nanosleep(&moment, NULL);
		drop(&truth.objects[i]);
		compare(26, &truth);
		if (!(figures->known & MTAG_HEAP_KNOWS_USED) || figures->used < full * 3 / 4)
			break;
	}
	CHECK(i < MANY);
	drop_all(&truth);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static const struct tap_test tests[] = {
	{"small objects", test_small},
	{"zeroed objects", test_calloc},
	{"large objects", test_large},
	{"aligned objects", test_aligned},
	{"realloc() keeps the owner", test_realloc},
	{"allocations that fail change nothing", test_failing},
	{"the C library's allocations", test_libc},
	{"what was ever allocated", test_cumulative},
	{"the allocator's own figures", test_figures},
	{"they follow what is freed", test_figures_freed},
};

int main(void)
{
	return truth_run(tests, sizeof(tests) / sizeof(tests[0]));
}
