/* SPDX-License-Identifier: GPL-2.0 */
/* What mtagctl says: of processes besides the calling one, and of page tables. */
#ifndef MTAG_TESTS_CTL_H
#define MTAG_TESTS_CTL_H

#include "tap.h"

/* The output of mtagctl, in a buffer of ours that the next call reuses; *status: its exit status. */
PRINTF(2, 3) char *ctl(int *status, const char *format, ...);

/*
 * Objects of a top-level JSON array of flat objects: cuts the next one off at *text; NULL: no more.
 * mtag's strings hold no braces unless a tag or a program is called so; the tests' are not.
 */
char *json_next(char **text);

uint64_t json_u64(const char *object, const char *key);
const char *json_string(const char *object, const char *key);

struct shown {
	uint64_t rows, rss, anon, file, shmem, swap, virt;
};

/* What `show` says of a process: sums over its tags, or of the tag with that path alone. */
struct shown show(pid_t pid, const char *path);

/* I1 to I3 for another process, which must be at rest. */
PRINTF(2, 3) bool exact_of(pid_t pid, const char *format, ...);

struct audit {
	uint64_t rows, kernel, walked, accounted, drift, migrating, lost, overflow;
};

struct audit audit(pid_t pid);

/* The page-table walk of `mtagctl audit` agrees, and nothing was lost. */
PRINTF(2, 3) bool clean(pid_t pid, const char *format, ...);

#endif
