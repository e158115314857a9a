/* SPDX-License-Identifier: GPL-2.0 */
/* Sums of tags over processes, as few as a database of metrics wants: the rest of many is one. */
#ifndef MTAGCTL_FORMAT_ROLLUP_H
#define MTAGCTL_FORMAT_ROLLUP_H

#include "model.h"

#define ROLLUP_TAGS 200 /* of a group, besides the one that the rest is in */

/**
 * struct total - a tag of the processes of a group, or the rest of their tags
 * @tag:	as it stands between quotes
 * @c:		sums, but for the peak, which is the highest of any process
 * @rest:	the tags beyond ROLLUP_TAGS; their peak would mean nothing
 */
struct total {
	char *tag;
	uint64_t c[MTAG_C_NR];
	bool rest;
};

/**
 * struct group - the processes of a name in a cgroup, or one process
 * @comm:	as it stands between quotes
 * @cgroup:	likewise; "" if it is unknown
 * @pid:	0 if processes are summed
 * @lost:	sums over the processes
 * @totals:	the largest first, the rest last
 */
struct group {
	char *comm, *cgroup;
	pid_t pid;
	uint64_t lost, overflow, repairs;
	struct total *totals;
	size_t n;
};

struct rollup {
	struct group *groups; /* ascending by comm, cgroup and pid */
	size_t n;
};

/* Into @rollup, which the caller clears even if this returns -ENOMEM, not 0. */
int rollup_sum(struct rollup *rollup, const struct snap *snap, bool by_pid);
void rollup_clear(struct rollup *rollup);

#endif
