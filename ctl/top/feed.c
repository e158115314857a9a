// SPDX-License-Identifier: GPL-2.0
/* Keeps the last two moments and their rows; counts incomplete dumps and its own CPU time. */
#include "clock.h"
#include "ctl.h"
#include "top/feed.h"

static bool has_before(const struct feed *feed)
{
	return feed->refreshes > 1;
}

int feed_rebuild(struct feed *feed, const struct choice *choice, size_t *row)
{
	struct moment *before = has_before(feed) ? &feed->before : NULL;
	struct rows rows = {0};
	int err = 0;

	if (choice->by == BY_CGROUP)
		err = moment_cgroups(&feed->now);
	if (choice->by == BY_CGROUP && before && !err)
		err = moment_cgroups(before);
	if (!err)
		err = rows_build(&rows, choice, &feed->now, before);
	if (err) {
		rows_clear(&rows);
		return err;
	}
	if (choice->by == feed->rows.by) {
		*row = rows_carry(&rows, &feed->rows, *row, choice->open);
	} else {
		rows_open_all(&rows, choice->open);
		*row = rows.n;
	}
	rows_clear(&feed->rows);
	feed->rows = rows;
	return 0;
}

int feed_refresh(struct feed *feed, const struct choice *choice, size_t *row)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct moment before = feed->before;
	int err;

	if (feed->refreshes)
		feed->cpu = (double)(cpu - feed->cpu_ns) / (double)(start - feed->now.ns + 1);
	feed->cpu_ns = cpu;
	/* The present rows name nothing of the moment before. */
	feed->before = feed->now;
	feed->now = before;
	err = moment_take(&feed->now, &feed->kern);
	if (err < 0)
		return err;
	feed->missed += err == KERN_INCOMPLETE;
	feed->refreshes++;
	err = feed_rebuild(feed, choice, row);
	feed->took_ns = clock_ns(CLOCK_MONOTONIC) - start;
	return err;
}

void feed_clear(struct feed *feed)
{
	rows_clear(&feed->rows);
	moment_clear(&feed->now);
	moment_clear(&feed->before);
	kern_close(feed->kern);
	*feed = (struct feed){0};
}
