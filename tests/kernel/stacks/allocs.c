// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: the program of t_heap_stacks.sh. What it allocates at each place, and does not free, is known by
 * construction; built without frame pointers. Prints a line for each place, "FUNCTION BYTES OBJECTS", and "ready"; then
 * each line of its input has it fork ("fork"), whose child prints its pid and waits, or execute itself ("exec").
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mtag.h"

#define alone __attribute__((noinline, noipa))
/* What follows a call keeps it from being a jump; and nobody may see that what is allocated goes nowhere. */
#define seen(p) __asm__ volatile("" ::"r"(p) : "memory")

#define N	4000

static void *kept[N];

static alone void *make_small(size_t size)
{
	void *p = malloc(size);

	seen(p);
	return p;
}

/* 4,000 objects of 3,000 bytes, touched. */
static alone void place_small(void)
{
	for (int i = 0; i < N; i++)
		kept[i] = memset(make_small(3000), 1, 3000);
	seen(kept);
}

/* 100 of 200,000 bytes that nobody touches: the heap has them, RSS has not. */
static alone void place_untouched(void)
{
	for (int i = 0; i < 100; i++)
		seen(malloc(200000));
}

/* As many as place_small(), all of which are freed. */
static alone void place_freed(void)
{
	void *p[100];

	for (int i = 0; i < N; i += 100) {
		for (int j = 0; j < 100; j++)
			p[j] = memset(make_small(3000), 1, 3000);
		seen(p);
		for (int j = 0; j < 100; j++)
			free(p[j]);
	}
}

/* Each other one is freed, elsewhere. */
static void *other[N];

static alone void free_elsewhere(void)
{
	for (int i = 0; i < N; i += 2)
		free(other[i]);
	seen(other);
}

static alone void place_half(void)
{
	for (int i = 0; i < N; i++)
		other[i] = calloc(1, 2500);
	seen(other);
}

/* What grows belongs to whoever has it grow: 8 MiB, then 16. */
static alone void place_grown(void)
{
	void *p = malloc(100);

	for (size_t size = 1000; size <= 16000000; size *= 2)
		p = realloc(p, size);
	seen(realloc(p, 16000000));
}

static alone void *place_thread(void *unused)
{
	for (int i = 0; i < N; i++)
		seen(make_small(2000));
	return unused;
}

static alone void place_again(void)
{
	for (int i = 0; i < N; i++)
		seen(make_small(4000));
}

static void run_all(void)
{
	mtag_t first = mtag_child(0, "first"), second = mtag_child(0, "second"),
	       before = mtag_enter(first);
	pthread_t thread;

	place_small();
	place_untouched();
	mtag_enter(second);
	place_freed();
	place_half();
	place_grown();
	free_elsewhere();
	mtag_leave(before);
	pthread_create(&thread, NULL, place_thread, NULL);
	pthread_join(thread, NULL);
	printf("place_small %d %d\nplace_untouched %d 100\nplace_freed 0 0\nplace_half %d %d\n"
	       "place_grown 16000000 1\nplace_thread %d %d\n",
	       N * 3000, N, 100 * 200000, N / 2 * 2500, N / 2, N * 2000, N);
}

int main(int argc, char **argv)
{
	char line[16];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1) {
		place_again();
		printf("place_again %d %d\n", N * 4000, N);
	} else {
		run_all();
	}
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "exec\n"))
			execl(argv[0], argv[0], "again", NULL);
		if (!strcmp(line, "fork\n") && !fork()) {
			place_again();
			printf("child %d\n", (int)getpid());
			pause();
		}
	}
	return 0;
}
