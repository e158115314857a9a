/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failing allocations, by the module of tests/kernel/failnth.
 *
 *	for (int n = 1; …; n++) { fail_arm(getpid(), n); what may fail; if (!fail_disarm(NULL)) break; … }
 */
#ifndef MTAG_TESTS_FAIL_H
#define MTAG_TESTS_FAIL_H

#include "test.h"

#define FAIL_DIR "/sys/module/failnth/parameters/"

int module_load(const char *path, const char *params);
int module_unload(const char *name);

/* One that is in use for a moment: a file being closed, a call that returns. */
int module_unload_soon(const char *name);

const char *module_path(void);
void fail_set(const char *parameter, long value);

/* Loads failnth, which is beside the module under test. */
void fail_begin(void);

void fail_end(void);

/* Only while a function between these addresses runs; 0 and 0: any. */
void fail_beneath(unsigned long begin, unsigned long end);

/* The module's text alone: what /proc/modules calls its size is that of parts that may lie apart. */
void fail_beneath_mtag(void);

/* Fail the @n-th allocation of process @pid and its children from now on; -1: of all. */
void fail_arm(pid_t pid, int n);

/* The end of that; how many have failed, and which was the last, if @what is not NULL. */
int fail_disarm(char what[128]);

/* Likewise, while it goes on. */
int fail_count(void);

#endif
