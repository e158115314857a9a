/* SPDX-License-Identifier: GPL-2.0 */
/* The resident bytes of each tag over a series of samples; processes of the same name are one. */
#ifndef MTAGCTL_PICTURE_TIMELINE_H
#define MTAGCTL_PICTURE_TIMELINE_H

#include "model.h"

/* The value from this sample on. */
struct point {
	size_t sample;
	uint64_t bytes;
};

/**
 * struct line - a tag
 * @comm:	the name of its processes
 * @path:	"" for the untagged
 * @label:	as people read it, with the process only if there are several
 * @points:	where the value changes, ascending by sample; before the first one it is 0
 * @seen:	the last sample that has the tag
 * @most:	the highest value
 * @hue:	from 1, or 0; by timeline_rank()
 */
struct line {
	char *comm;
	char *path;
	char *label;
	struct point *points;
	size_t n_points;
	size_t room;
	size_t seen;
	uint64_t most;
	unsigned int hue;
};

/**
 * struct timeline - samples that were added, oldest first
 * @times:	of each, milliseconds since 1970
 * @root:	of <search.h>
 * @lines:	the largest first; by timeline_rank()
 */
struct timeline {
	uint64_t *times;
	size_t n_samples;
	size_t times_room;
	void *root;
	struct line **lines;
	size_t n_lines;
	size_t lines_room;
};

/* 0, -ENOMEM, or -EINVAL if the sample is older than the one before it. */
int timeline_add(struct timeline *timeline, uint64_t time_ms, const struct snap *snap);
/* Sorts the lines, and gives the first @hues of them their hues and labels. 0 or -ENOMEM. */
int timeline_rank(struct timeline *timeline, unsigned int hues);
void timeline_clear(struct timeline *timeline);

/* The line of a tag, or NULL. */
const struct line *timeline_find(const struct timeline *timeline, const char *comm,
				 const char *path);

#endif
