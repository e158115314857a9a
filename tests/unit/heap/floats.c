// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a program has set for its floating-point numbers, with libmtag-heap preloaded: taking a sample, which
 * computes with such numbers, neither dies of it nor changes it. Objects here are so large that each is a sample.
 */
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>

#include "../lib_tap.h"

#define SIZE  (64 << 20)
#define TRAPS (FE_INEXACT | FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW)

/* Samples come and go in each way, and so do objects that are mostly none. */
static void allocate(void)
{
	void *p = realloc(malloc(SIZE), SIZE / 2), *small[1000];
	unsigned i;

	free(realloc(p, SIZE));
	free(calloc(3, SIZE / 3));
	for (i = 0; i < 1000; i++)
		small[i] = malloc(100 + i);
	for (i = 0; i < 1000; i++)
		free(realloc(small[i], 2000 - i));
}

static void *run_thread(void *arg)
{
	allocate();
	CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
	return arg;
}

static void test_traps(void)
{
	CHECK(feenableexcept(TRAPS) >= 0);
	free(malloc(SIZE));
	allocate();
	CHECK(fegetexcept() == TRAPS);
}

/* A thread inherits what is set; its first allocation draws a distance. */
static void test_traps_in_thread(void)
{
	pthread_t thread;

	CHECK(feenableexcept(TRAPS) >= 0);
	CHECK(!pthread_create(&thread, NULL, run_thread, NULL));
	pthread_join(thread, NULL);
}

static void test_flags(void)
{
	feclearexcept(FE_ALL_EXCEPT);
	free(malloc(SIZE));
	CHECK(!fetestexcept(FE_INEXACT));
	allocate();
	CHECK(!fetestexcept(FE_ALL_EXCEPT));
	/* Those that are set stay so. */
	feraiseexcept(FE_DIVBYZERO);
	allocate();
	CHECK(fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
}

static void test_rounding(void)
{
	static const int ways[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
	unsigned i;

	for (i = 0; i < 4; i++) {
		CHECK(!fesetround(ways[i]));
		allocate();
		CHECK(fegetround() == ways[i]);
	}
}

static const struct tap_test tests[] = {
	{"a program that traps all floating-point exceptions meets none", test_traps},
	{"nor does a thread of its", test_traps_in_thread},
	{"the flags of exceptions stay", test_flags},
	{"the rounding mode stays", test_rounding},
};
TAP_MAIN(tests)
