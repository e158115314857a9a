/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Repeats an operation, each time in a new process, while each n-th allocation of mtag fails in turn, and checks that
 * every attempt gives an error or a counted loss.
 */
#ifndef MTAG_TESTS_FAIL_EACH_H
#define MTAG_TESTS_FAIL_EACH_H

#include "load.h"
#include "fail.h"

/* The current attempt, in shared memory. */
struct attempt {
	atomic_int n, all, failed, wrong, made;
	char what[128];
};

extern struct attempt *now_at;

/* Only operations whose names contain this are tried. */
extern const char *only;
extern bool every_one;

/* Like ok(), but prints only failures. */
PRINTF(2, 3) bool good(bool is_good, const char *format, ...);

void exactly(const char *when);
uint64_t losses(void);

/* Checks that an operation fails with -ENOMEM, if it fails. */
void or_enomem(int failed, int result, const char *what);

/*
 * @attempt calls arm() and disarm() around the operation. First one allocation fails, then that and all later ones;
 * without --long not every n is tried.
 */
void each(const char *what, void (*attempt)(void), int step);

void arm(void);
int disarm(void);

/*
 * Checks that an operation that cannot return an error has counted a loss. Some functions that mtag calls retry by
 * themselves; and a record of a task that zaps is missed by no process without swap.
 */
void counted(int failed, uint64_t before);

/* ---- memory that is tried with ---- */

#define N 32 /* pages */

void write_pages(char *p, size_t pages);

/* A shared mapping of @len bytes, with pages. */
char *shared(mtag_t t, size_t len);

#endif
