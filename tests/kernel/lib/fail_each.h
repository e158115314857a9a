/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attempts: the same, each time in a new process, while each n-th allocation of mtag's fails in turn;
 * and what every attempt checks: an error, or a counted loss.
 */
#ifndef MTAG_TESTS_FAIL_EACH_H
#define MTAG_TESTS_FAIL_EACH_H

#include "load.h"
#include "fail.h"

/* Of the attempt under way, in shared memory. */
struct attempt {
	atomic_int n, all, failed, wrong, made;
	char what[128];
};

extern struct attempt *now_at;

/* Those operations alone whose names have this. */
extern const char *only;
extern bool every_one;

/* As ok(), but only what is wrong is said. */
PRINTF(2, 3) bool good(bool is_good, const char *format, ...);

void exactly(const char *when);
uint64_t losses(void);

/* An operation fails with -ENOMEM, if it does. */
void or_enomem(int failed, int result, const char *what);

/*
 * @attempt calls arm() and disarm() around what is tried. First one allocation fails, then all from there, but
 * fewer of them without --long.
 */
void each(const char *what, void (*attempt)(void), int step);

void arm(void);
int disarm(void);

/*
 * What a failed allocation of an operation that cannot say so must leave behind. Of what mtag calls, some
 * try again themselves; and what is not known of who zaps is missed by none who has nothing in swap.
 */
void counted(int failed, uint64_t before);

/* ---- memory that is tried with ---- */

#define N 32 /* pages */

void write_pages(char *p, size_t pages);

/* A shared mapping of @len bytes, with pages. */
char *shared(mtag_t t, size_t len);

#endif
