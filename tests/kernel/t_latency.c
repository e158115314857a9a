// SPDX-License-Identifier: GPL-2.0
/*
 * However many tags a process has, counting, auditing and forking it does not hold the CPU for long: a thread that is
 * due runs on time. The clock counts instructions.
 */
/* vm: only=6.1 stock=1 because="it is the same on all, and the clock that counts instructions is slow; sanitizers wait" icount=1 group=latency append=preempt=full module=linger_ms=3600000,max_tags=16000,count_down=0 timeout=900 */
#include "lib/test.h"

#include <sched.h>

#define TAGS   15000
#define PERIOD 200000 /* nanoseconds */
#define LATE   400000

static atomic_bool stop;
static atomic_long latest, wakeups;

static long at(void)
{
	struct timespec t;

	must0(clock_gettime(CLOCK_MONOTONIC, &t));
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Wakes up on time, or as soon as it can. */
static void *punctual(void *arg)
{
	const struct sched_param priority = {.sched_priority = 50};
	long due, late;

	must0(sched_setscheduler(0, SCHED_FIFO, &priority));
	while (!atomic_load(&stop)) {
		struct timespec t;

		due = at() + PERIOD;
		t = (struct timespec){.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
		must0(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
		late = at() - due;
		atomic_fetch_add(&wakeups, 1);
		if (late > atomic_load(&latest))
			atomic_store(&latest, late);
	}
	return arg;
}

static void punctual_during(const char *what, void (*work)(void))
{
	pthread_t thread;

	atomic_store(&stop, false);
	atomic_store(&latest, 0);
	atomic_store(&wakeups, 0);
	must0(pthread_create(&thread, NULL, punctual, NULL));
	work();
	atomic_store(&stop, true);
	must0(pthread_join(thread, NULL));
	/* Each is less than two periods late, and the least of this takes 50. */
	ok(atomic_load(&wakeups) >= 15, "a thread is due again and again during %s: %ld times",
	   what, atomic_load(&wakeups));
	ok(atomic_load(&latest) < LATE, "nobody waits for a processor during %s: %ld us", what,
	   atomic_load(&latest) / 1000);
}

static void nothing(void)
{
	for (long end = at() + 50 * PERIOD; at() < end;)
		;
}

static void audits(void)
{
	for (int i = 0; i < 3; i++)
		clean(getpid(), "audit %d agrees", i);
}

static void forks(void)
{
	for (int i = 0; i < 3; i++)
		in_child {
		}
}

int main(void)
{
	char name[16];

	begin_test();
	is(mtag_init(), 0, "attached");
	for (int i = 0; i < TAGS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		if (!mtag_child(0, name))
			bail("tag %d is refused: %s", i, strerror(errno));
	}
	punctual_during("nothing", nothing);
	punctual_during("audits", audits);
	punctual_during("forks", forks);
	clean(getpid(), "the audit agrees in the end");
	return end_test();
}
