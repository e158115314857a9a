/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of a process by the names of its mappings: what smaps says, and what mtagctl says by tag. */
#ifndef MTAG_TESTS_BY_NAME_H
#define MTAG_TESTS_BY_NAME_H

#include "tap.h"

#define BY_NAME_MAX 512

struct by_name {
	char name[128];
	uint64_t size, rss, anon, shmem, swap;
};

struct names {
	size_t count;
	struct by_name row[BY_NAME_MAX];
};

/* What smaps says. Names are those that `mtagctl run --by-map` gives to tags. */
struct names *names_of_smaps(pid_t pid);

/* What mtagctl shows, of the tags with a path below that of @root; tags that have nothing are left out. */
struct names *names_of_tags(pid_t pid, const char *root);

const struct by_name *names_find(const struct names *names, const char *name);

/* Checks that both say the same of a process that does not run meanwhile. */
PRINTF(3, 4) bool same_names(pid_t pid, const char *root, const char *format, ...);

#endif
