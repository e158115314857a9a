// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library that a program is linked with. It is set up before libmtag-heap, which is preloaded, so that its functions of
 * pthread_atfork(3) run within that one's: each frees an object that was sampled.
 */
#include <pthread.h>
#include <stdlib.h>

#define BYTES (1UL << 20)

void *handlers_freed[3];

static void let_go(int i)
{
	free(handlers_freed[i]);
}

static void before(void)
{
	let_go(0);
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
	pthread_atfork(before, parent, child);
}
