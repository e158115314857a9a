/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forks, threads, names of threads and execs while allocations fail. What they begin is tracked and exact, or the
 * loss is reported.
 */
#ifndef MTAG_TESTS_FAIL_FORK_H
#define MTAG_TESTS_FAIL_FORK_H

void forks(void);

/* ---- processes that are killed ---- */

/* A fork that is killed leaves a space in which nothing runs: nothing is lost with it. */
void killed_forks(void);

void killed_execs(void);
void threads(void);
void naming(void);

/* The program that execs() starts: reports that it runs, waits, then checks itself. */
int execed(void);

void execs(void);

#endif
