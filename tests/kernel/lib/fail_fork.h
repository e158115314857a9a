/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What begins while allocations fail: children, threads, names of threads, programs. Each is tracked
 * and exact, or is not, and then it is told.
 */
#ifndef MTAG_TESTS_FAIL_FORK_H
#define MTAG_TESTS_FAIL_FORK_H

void forks(void);

/* ---- who is killed ---- */

/* Nobody runs in what a fork made that is killed: nothing is lost with it. */
void killed_forks(void);

void killed_execs(void);
void threads(void);
void naming(void);

/* The image that execs() starts: says when it runs, and judges itself when it is told so. */
int execed(void);

void execs(void);

#endif
