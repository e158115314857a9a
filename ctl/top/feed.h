/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What top shows, refresh by refresh: the rows of the last two moments, and what it costs to have
 * them.
 */
#ifndef MTAGCTL_TOP_FEED_H
#define MTAGCTL_TOP_FEED_H

#include "top/rows.h"

/**
 * struct feed - what top shows
 * @kern:	where moments come from
 * @now:	the newest moment
 * @before:	the one before it, once there is one
 * @rows:	of these
 * @refreshes:	moments so far
 * @missed:	those whose dump was incomplete
 * @took_ns:	for the last refresh
 * @cpu:	share of one CPU that this process used between the last two refreshes
 * @cpu_ns:	its CPU time at the last one
 */
struct feed {
	struct kern *kern;
	struct moment now, before;
	struct rows rows;
	unsigned long refreshes, missed;
	uint64_t took_ns, cpu_ns;
	double cpu;
};

/*
 * Takes the next moment and builds its rows. Those that there were are open as before; *@row goes
 * with its process or tag. Returns 0 or -errno.
 */
int feed_refresh(struct feed *feed, const struct choice *choice, size_t *row);
/* Builds the rows of the moments that there are anew, for another choice. */
int feed_rebuild(struct feed *feed, const struct choice *choice, size_t *row);
void feed_clear(struct feed *feed);

#endif
