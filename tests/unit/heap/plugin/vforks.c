// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A thread allocates for the first time in its child of vfork(2). Then there are as many threads as have counts of their
 * own, and one more, which may get counts that look left. Prints how many objects the counts have grown by in the end.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap/usage.h"

#define OTHERS 253
#define TIMES  300000

static atomic_int ready, go, end;

static void wait_for(const atomic_int *what, int least)
{
	while (atomic_load(what) < least)
		usleep(1000);
}

static void *counted(void *forks)
{
	if (forks && !vfork()) {
		free(malloc(10));
		_exit(0);
	}
	atomic_fetch_add(&ready, 1);
	wait_for(&go, 1);
	for (int i = 0; i < TIMES; i++)
		free(malloc(32));
	return NULL;
}

static void *other(void *unused)
{
	free(malloc(10));
	atomic_fetch_add(&ready, 1);
	wait_for(&end, 1);
	return unused;
}

static int64_t alive(void)
{
	struct mtag_heap_cell sum = {0};

	mtag_heap_usage(0, &sum);
	return sum.objects_in - sum.objects_out;
}

int main(void)
{
	pthread_t threads[OTHERS], first, last;
	int64_t before;

	pthread_create(&first, NULL, counted, &go);
	wait_for(&ready, 1);
	for (int i = 0; i < OTHERS; i++)
		pthread_create(&threads[i], NULL, other, NULL);
	wait_for(&ready, 1 + OTHERS);
	pthread_create(&last, NULL, counted, NULL);
	wait_for(&ready, 2 + OTHERS);
	before = alive();
	atomic_store(&go, 1);
	pthread_join(first, NULL);
	pthread_join(last, NULL);
	printf("%lld objects more\n", (long long)(alive() - before));
	atomic_store(&end, 1);
	for (int i = 0; i < OTHERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
