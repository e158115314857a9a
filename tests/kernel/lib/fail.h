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

/* Unloads a module that may still be in use for a moment: a file is being closed, a call returns. */
int module_unload_soon(const char *name);

const char *module_path(void);
void fail_set(const char *parameter, long value);

/* Loads failnth, from beside the module under test. */
void fail_begin(void);

void fail_end(void);

/* Fail only below a function between these addresses; 0 and 0: anywhere. */
void fail_beneath(unsigned long begin, unsigned long end);

/* Fail only below mtag's text. The size in /proc/modules is that of all parts, which need not be adjacent. */
void fail_beneath_mtag(void);

/* Fail only below one function of mtag, which must not end in a call that the compiler made a jump. */
void fail_beneath_function(const char *name);

/* Fail the @n-th allocation of process @pid and its children from now on; -1: of all. */
void fail_arm(pid_t pid, int n);

/* Stops failing; returns how many failed, and describes the last in @what unless that is NULL. */
int fail_disarm(char what[128]);

/* Returns how many have failed so far. */
int fail_count(void);

#endif
