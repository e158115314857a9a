/* SPDX-License-Identifier: GPL-2.0 */
/* What `mtagctl history` says about processes that ended, and processes whose end can be looked at. */
#ifndef MTAG_TESTS_PAST_H
#define MTAG_TESTS_PAST_H

#include "test.h"
#include <sys/ptrace.h>

#define PAST_TAGS 3

/* The tags of a process that ends, by size, each with an area that only it has touched. */
struct last {
	char *area[PAST_TAGS];
	size_t len[PAST_TAGS];
};

extern const char *const last_names[PAST_TAGS];

/* Of an ended process or one of its tags. */
struct past {
	unsigned int entries; /* of that pid */
	unsigned int rows;
	uint64_t rss, anon, file, shmem, swap, peak;
	char comm[32], how[16], largest[128];
	uint64_t status, signal, ended, ran;
	bool complete, reaped;
};

/* The newest process with that pid: sums over its tags, or the one tag with that path. */
struct past past_of(pid_t pid, const char *path);

/* In the child: is tracked, and touches the areas, the last of them all but the last page. */
void last_begin(struct last *l, const size_t pages[PAST_TAGS]);

/* Runs @end in a tracked child with these areas, in a process group of its own, traced by this process. */
pid_t last_child(struct last *l, const size_t pages[PAST_TAGS], void (*end)(void));

/* Waits until the traced child is about to end, with all its memory. */
void until_exit(pid_t pid);

/*
 * Compares smaps with the history of a child that until_exit() has stopped, lets it go, and returns what waitpid()
 * says.
 */
int last_is_exact(pid_t pid, const struct last *l, const char *what);

#endif
