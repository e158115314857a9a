// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library that a program is linked with. It is set up before libmtag-heap, which is preloaded, so that its functions of
 * pthread_atfork(3) run within that one's: each frees an object that was sampled. The first also forks, as the handler of
 * a signal may, and makes a sampled object smaller.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES (1UL << 20)

void *handlers_freed[3];
static void *resized;
static bool within;

static void let_go(int i)
{
	if (!within)
		free(handlers_freed[i]);
}

static void before(void)
{
	if (within)
		return;
	let_go(0);
	within = true;
	if (!fork())
		_exit(0);
	wait(NULL);
	within = false;
	resized = realloc(resized, BYTES / 2);
}

static void parent(void)
{
	let_go(1);
}

static void child(void)
{
	let_go(2);
}

__attribute__((constructor)) static void begin(void)
{
	int i;

	for (i = 0; i < 3; i++)
		handlers_freed[i] = malloc(BYTES);
	resized = malloc(BYTES);
	pthread_atfork(before, parent, child);
}
