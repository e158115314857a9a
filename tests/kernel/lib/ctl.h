/* SPDX-License-Identifier: GPL-2.0 */
/* What mtagctl says about any process, and what its audit finds in page tables. */
#ifndef MTAG_TESTS_CTL_H
#define MTAG_TESTS_CTL_H

#include "tap.h"

/* Returns the output of mtagctl, in a buffer that the next call reuses; *status: its exit status. */
PRINTF(2, 3) char *ctl(int *status, const char *format, ...);

/*
 * Cuts the next object of a JSON array of flat objects off at *text; NULL: there is none. Braces in strings would
 * confuse it: no tag and no program of the tests has any in its name.
 */
char *json_next(char **text);

uint64_t json_u64(const char *object, const char *key);
const char *json_string(const char *object, const char *key);

struct shown {
	uint64_t rows, rss, anon, file, shmem, swap, virt;
};

/* What the module, and `mtagctl show`, say about a process: sums over its tags, or the one tag with that path. */
struct shown show(pid_t pid, const char *path);
struct shown show_by_mtagctl(pid_t pid, const char *path);

/* Checks I1 to I3 for another process, which must not run meanwhile. */
PRINTF(2, 3) bool exact_of(pid_t pid, const char *format, ...);

/* Checks RSS alone with what the kernel has counted, where smaps does not show all of that, or changes it. */
bool counted_of(pid_t pid, const char *when);

struct audit {
	uint64_t rows, kernel, walked, accounted, drift, migrating, lost, overflow;
};

/* An audit of a process: no rows if there was an error. */
struct audit audit(pid_t pid);
struct audit audit_by_mtagctl(pid_t pid);

/* Checks that the page-table walk of an audit agrees and that nothing was lost. */
PRINTF(2, 3) bool clean(pid_t pid, const char *format, ...);

#endif
