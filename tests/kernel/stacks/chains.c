// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: the program of t_stacks_perf.sh. Each page of its region is touched at one place, by chains of
 * calls of all kinds; built without frame pointers. As SHARED it is the shared library that the program calls.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define alone __attribute__((noinline, noipa))
#define PG    4096

void shared_touch(char *at, int pages);
void shared_call(void (*what)(void));

#ifdef SHARED

alone void shared_touch(char *at, int pages)
{
	for (int i = 0; i < pages; i++)
		*(volatile char *)(at + (long)i * PG) = 1;
}

alone void shared_call(void (*what)(void))
{
	what();
	__asm__ volatile("");
}

#else

#include "mtag.h"

#define REGION 4096

static char *region, *next;

static char *take(int pages)
{
	char *at = next;

	next += (long)pages * PG;
	return at;
}

static alone void touch(int pages)
{
	char *at = take(pages);

	for (int i = 0; i < pages; i++)
		*(volatile char *)(at + (long)i * PG) = 1;
}

/* What follows a call keeps it from being a jump. */
#define stay() __asm__ volatile("")

static alone void site_plain(void)
{
	touch(3);
	stay();
}

/* A frame that moves the stack pointer by as much as it is told, with a frame pointer therefore. */
static alone void site_alloca(int n)
{
	volatile char *space = __builtin_alloca((size_t)n);

	space[0] = 1;
	touch(2);
	stay();
}

/* More arguments than registers: the stack pointer moves between calls. */
static alone int site_many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	touch(a);
	return a + b + c + d + e + f + g + h;
}

static alone int site_recursion(int depth)
{
	int n = depth > 0 ? site_recursion(depth - 1) : 0;

	touch(1);
	return n + depth;
}

static alone int site_odd(int n);
static alone int site_even(int n)
{
	volatile long space[9] = {n};
	int m = n > 0 ? site_odd(n - 1) : 0;

	touch(1);
	return m + (int)space[0];
}

static alone int site_odd(int n)
{
	int m = n > 0 ? site_even(n - 1) : 0;

	touch(1);
	return m + 1;
}

static int compared;
static alone int site_compare(const void *a, const void *b)
{
	if (compared++ < 5)
		touch(1);
	return *(const int *)a - *(const int *)b;
}

static alone void site_qsort(void)
{
	int numbers[] = {5, 3, 9, 1, 7, 2};

	qsort(numbers, sizeof(numbers) / sizeof(*numbers), sizeof(*numbers), site_compare);
	stay();
}

static alone void site_handler(int sig)
{
	touch(sig == SIGUSR1 ? 2 : 3);
	stay();
}

static alone void site_signal(int sig)
{
	raise(sig);
	stay();
}

/* The handler interrupts the program where no call is. */
static alone void site_trap(void)
{
	__asm__ volatile("int3\nnop");
	stay();
}

static alone void site_library(void)
{
	shared_touch(take(4), 4);
	stay();
}

static alone void site_callback(void)
{
	shared_call(site_plain);
	stay();
}

static void (*volatile pointer)(void) = site_plain;
static alone void site_pointer(void)
{
	pointer();
	stay();
}

static alone void all_sites(void)
{
	site_plain();
	site_alloca(100);
	site_alloca(1000);
	site_many(2, 2, 3, 4, 5, 6, 7, 8);
	site_recursion(12);
	site_even(9);
	site_qsort();
	site_signal(SIGUSR1);
	site_signal(SIGUSR2);
	site_trap();
	site_library();
	site_callback();
	site_pointer();
}

int main(int argc, char **argv)
{
	mtag_t tag = mtag_child(MTAG_UNTAGGED, "region");

	region =
		mmap(NULL, REGION * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED)
		return 1;
	/* There may be no huge pages at all, as on PREEMPT_RT. */
	madvise(region, REGION * PG, MADV_NOHUGEPAGE);
	next = region;
	mtag_range(region, REGION * PG, tag, 0);
	signal(SIGUSR1, site_handler);
	signal(SIGUSR2, site_handler);
	signal(SIGTRAP, site_handler);
	/* Twice: the first time the linker may bind a function at its call. */
	all_sites();
	next += 16L * PG;
	compared = 0;
	all_sites();
	printf("%lx %lx %ld\n", (unsigned long)region, (unsigned long)next,
	       (next - region) / PG - 16);
	fflush(stdout);
	if (argc > 1 && *argv[1] == 'w')
		pause();
	return 0;
}

#endif
