// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Phases of known truth, as in phases.c, with threads and forks: the counts stay true whichever
 * thread frees an object, when threads have ended, with more of them than the library has slots
 * for, and in a child.
 *
 * link: -pthread
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "truth.h"

#define N 20000

/* ---- threads ---- */

static void *free_all(void *arg)
{
	/* Of another tag, and nothing was allocated in this thread: the owner is credited all the same. */
	enter(18);
	drop_all(arg);
	return NULL;
}

static void test_freed_by_others(void)
{
	struct truth truth = truth_of(N);
	pthread_t thread;
	size_t i;

	enter(17);
	for (i = 0; i < N; i++)
		hold(&truth.objects[i], malloc(size_at(i, 2000)), size_at(i, 2000));
	compare(17, &truth);
	/* What the C library needs for a thread is not part of it. */
	enter(0);
	CHECK(!pthread_create(&thread, NULL, free_all, &truth));
	pthread_join(thread, NULL);
	compare(17, &truth);
	compare(18, &truth);
}

static pthread_key_t late_key;

/* Frees and allocates when the library's own destructor may have run. */
static void at_thread_exit(void *arg)
{
	struct truth *truth = arg;
	unsigned i;

	for (i = 0; i < 50; i++)
		drop(&truth->objects[i]);
	for (i = 0; i < 20; i++)
		hold(&truth->objects[i], malloc(1000 + i), 1000 + i);
}

static void *come_and_go(void *arg)
{
	struct truth *truth = arg;
	unsigned i;

	enter(19);
	pthread_setspecific(late_key, truth);
	for (i = 0; i < 100; i++)
		hold(&truth->objects[i], malloc(i * 10), i * 10);
	return NULL;
}

static void test_threads(void)
{
	struct truth all = truth_of(100 * 400), part[8];
	pthread_t threads[8];
	unsigned round, i;

	CHECK(!pthread_key_create(&late_key, at_thread_exit));
	for (round = 0; round < 50; round++) {
		for (i = 0; i < 8; i++) {
			part[i].objects = all.objects + (round * 8 + i) * 100;
			part[i].n = 100;
			CHECK(!pthread_create(&threads[i], NULL, come_and_go, &part[i]));
		}
		for (i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	compare(19, &all);
	/* Slots are used again. */
	CHECK(reader.head.slots_used < 20);
	enter(0);
	drop_all(&all);
	compare(19, &all);
}

static sem_t arrived, leave;

static void *keep_alive(void *arg)
{
	struct truth *truth = arg;

	enter(20);
	hold(truth->objects, malloc(5000), 5000);
	sem_post(&arrived);
	while (sem_wait(&leave))
		;
	drop(truth->objects);
	return NULL;
}

/* More threads than there are slots. */
static void test_many_threads(void)
{
	enum { MANY = 400 };
	struct truth all = truth_of(MANY), part[MANY];
	pthread_t threads[MANY];
	pthread_attr_t attr;
	unsigned i;

	sem_init(&arrived, 0, 0);
	sem_init(&leave, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < MANY; i++) {
		part[i].objects = &all.objects[i];
		part[i].n = 1;
		CHECK(!pthread_create(&threads[i], &attr, keep_alive, &part[i]));
	}
	for (i = 0; i < MANY; i++)
		while (sem_wait(&arrived))
			;
	compare(20, &all);
	for (i = 0; i < MANY; i++)
		sem_post(&leave);
	for (i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	compare(20, &all);
}

/* ---- fork ---- */

static struct truth of_fork;

static void child(void)
{
	size_t i;

	enter(21);
	close(reader.mem);
	CHECK(reader_open(&reader, getpid()));
	CHECK(reader.head.pid == (uint32_t)getpid());
	compare(21, &of_fork);
	for (i = 0; i < of_fork.n; i += 2)
		drop(&of_fork.objects[i]);
	for (i = 0; i < of_fork.n; i += 4)
		hold(&of_fork.objects[i], malloc(i), i);
	compare(21, &of_fork);
	drop_all(&of_fork);
	compare(21, &of_fork);
}

static atomic_int forking;

static void *churn(void *arg)
{
	(void)arg;
	enter(22);
	while (forking)
		free(malloc(70000));
	return NULL;
}

static void test_fork(void)
{
	const char *more = getenv("MTAG_LONG");
	unsigned round, rounds = more && *more ? 50 : 10, i;
	pthread_t threads[3];
	pid_t pid;

	of_fork = truth_of(2000);
	enter(21);
	for (i = 0; i < of_fork.n; i++)
		hold(&of_fork.objects[i], malloc(i * 3), i * 3);
	enter(0);
	forking = 1;
	for (i = 0; i < 3; i++)
		CHECK(!pthread_create(&threads[i], NULL, churn, NULL));
	for (round = 0; round < rounds; round++) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			child();
			tap_end();
		}
		CHECK(tap_reap(pid));
	}
	forking = 0;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	compare(21, &of_fork);
	drop_all(&of_fork);
	compare(21, &of_fork);
}

static const struct tap_test tests[] = {
	{"who frees does not matter", test_freed_by_others},
	{"threads that come and go leave their counts", test_threads},
	{"more threads than slots", test_many_threads},
	{"a forked child counts on, and its parent does not notice", test_fork},
};

int main(void)
{
	return truth_run(tests, sizeof(tests) / sizeof(tests[0]));
}
