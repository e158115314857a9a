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

/* Sixty-four chains of as many calls, each of its own functions: 832 addresses to return to. */
#define LEVEL(chain, n, next)                                                                      \
	static __attribute__((noipa)) void chain##_##n(char *p)                                    \
	{                                                                                          \
		next(p);                                                                           \
		__asm__ volatile("");                                                              \
	}
#define CHAIN(c)                                                                                   \
	static __attribute__((noipa)) void c##_0(char *p)                                          \
	{                                                                                          \
		touch(p, PG, PG);                                                                  \
		__asm__ volatile("");                                                              \
	}                                                                                          \
	LEVEL(c, 1, c##_0)                                                                         \
	LEVEL(c, 2, c##_1)                                                                         \
	LEVEL(c, 3, c##_2)                                                                         \
	LEVEL(c, 4, c##_3)                                                                         \
	LEVEL(c, 5, c##_4)                                                                         \
	LEVEL(c, 6, c##_5)                                                                         \
	LEVEL(c, 7, c##_6)                                                                         \
	LEVEL(c, 8, c##_7)                                                                         \
	LEVEL(c, 9, c##_8)                                                                         \
	LEVEL(c, 10, c##_9) LEVEL(c, 11, c##_10) LEVEL(c, 12, c##_11) LEVEL(c, 13, c##_12)
#define NAME(c) c##_13,
#define SIXTEEN(of, group)                                                                         \
	of(group##0) of(group##1) of(group##2) of(group##3) of(group##4) of(group##5) of(group##6) \
		of(group##7) of(group##8) of(group##9) of(group##a) of(group##b) of(group##c)      \
			of(group##d) of(group##e) of(group##f)
#define ALL(of) SIXTEEN(of, a) SIXTEEN(of, b) SIXTEEN(of, c) SIXTEEN(of, d)

ALL(CHAIN)

static void (*const chains[])(char *p) = {ALL(NAME)};

#define CHAINS (sizeof(chains) / sizeof(*chains))

/* Each page by calls that no CPU has met lately. */
static __attribute__((noinline)) double unmet(char *p)
{
	double start = now();

	for (size_t i = 0; i < SMALL / PG; i++)
		chains[i % CHAINS](p + i * PG);
	return now() - start;
}

/*
 * In the one mapping that all is measured in: to another the kernel gives pages from another of
 * its lists, which costs up to 63 a page more.
 */
static double measure(double (*pass)(char *p), char *p)
{
	double best = 1e12;

	for (int i = 0; i < PASSES; i++) {
		best = min(best, pass(p));
		must(madvise(p, SMALL, MADV_DONTNEED));
	}
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

/* What this process pays while the stacks of another program are taken. */
static double beside(char *p)
{
	pid_t pid = must(fork());
	double cost;

	if (!pid) {
		execlp("sleep", "sleep", "infinity", NULL);
		_exit(127);
	}
	usleep(100000);
	take_stacks_of(pid);
	cost = measure(again, p);
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0));
	return cost;
}

static void print_cost(const char *work, const char *how, double before, double cost,
		       const char *budget)
{
	printf("first touch, 4 KiB, %s: none\t%.1f\t\n", work, before);
	printf("first touch, 4 KiB, %s: %s\t%+.1f\t%s\n", work, how, cost - before, budget);
}

int main(void)
{
	char *p = map(SMALL, HPAGE, MADV_NOHUGEPAGE);
	double again_before = measure(again, p), cold_before = measure(cold, p);
	double unmet_before = measure(unmet, p);

	print_cost("no stack", "another process's are taken", again_before, beside(p), "1");
	take_stacks_of(getpid());
	print_cost("stack of 20 frames", "taken", cold_before, measure(cold, p), "3500");
	print_cost("stack of 20 frames, new calls", "taken", unmet_before, measure(unmet, p),
		   "3500");
	print_cost("the same stack again", "taken", again_before, measure(again, p), "400");
	return 0;
}
