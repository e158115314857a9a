// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what a first touch costs with its user stack taken, in instructions, as cost.c does. Runs below `mtagctl
 * run`, and has its stacks taken from the middle on, as only differences within a process are comparable.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "area.h"
#include "clock.h"

/* Calls below measure(): with those above it, the innermost frame and libc's, 20 frames. */
#define CALLS 13

/* Tells two stacks apart at their outer end. Writes to every @step-th byte. */
static __attribute__((noinline)) void deep(int calls, char *p, size_t len, size_t step)
{
	if (calls)
		deep(calls - 1, p, len, step);
	else
		touch(p, len, step);
	/* Not a jump: the caller's frame stays. */
	__asm__ volatile("");
}

/* All pages from one place: after the first the stack is the same. */
static __attribute__((noinline)) double again(char *p)
{
	double start = now();

	deep(CALLS, p, SMALL, PG);
	return now() - start;
}

/* Each page from another place than the one before. */
static __attribute__((noinline)) double cold(char *p)
{
	double start = now();

	for (size_t at = 0; at < SMALL; at += 2 * PG) {
		deep(CALLS, p + at, PG, PG);
		deep(CALLS, p + at + PG, PG, PG);
	}
	return now() - start;
}

static double measure(double (*pass)(char *p))
{
	char *p = map(SMALL, HPAGE, MADV_NOHUGEPAGE);
	double best = 1e12;

	for (int i = 0; i < PASSES; i++) {
		best = min(best, pass(p));
		must(madvise(p, SMALL, MADV_DONTNEED));
	}
	must(munmap(p, SMALL));
	return best / (SMALL / PG);
}

static void take_stacks_of(pid_t pid)
{
	char command[64];

	snprintf(command, sizeof(command), "exec mtagctl track --stacks %d", (int)pid);
	if (system(command)) {
		fprintf(stderr, "stacks: cannot have stacks taken\n");
		exit(1);
	}
}

/* What this process pays while the stacks of another program are taken: nothing. */
static double beside(void)
{
	pid_t pid = must(fork());
	double before, cost;

	if (!pid) {
		execlp("sleep", "sleep", "infinity", NULL);
		_exit(127);
	}
	usleep(100000);
	before = measure(again);
	take_stacks_of(pid);
	cost = measure(again) - before;
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0));
	return cost;
}

int main(void)
{
	double again_before, cold_before;

	printf("first touch, 4 KiB, no stack, another process's are taken\t%+.1f\t1\n", beside());
	again_before = measure(again);
	cold_before = measure(cold);
	take_stacks_of(getpid());
	printf("first touch, 4 KiB, stack of 20 frames\t%+.1f\t3500\n",
	       measure(cold) - cold_before);
	printf("first touch, 4 KiB, the same stack again\t%+.1f\t400\n",
	       measure(again) - again_before);
	return 0;
}
