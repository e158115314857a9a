/* SPDX-License-Identifier: GPL-2.0 */
/* The history of each tag's RSS as a row of bars. */
#ifndef MTAGCTL_FORMAT_SPARK_H
#define MTAGCTL_FORMAT_SPARK_H

#include "format/fmt.h"
#include "model.h"

#define SPARK_LEAST 8  /* columns; in fewer nothing can be seen */
#define SPARK_MOST  64 /* samples that are kept */

/* The last samples of a tag, the oldest first. */
struct spark {
	unsigned int n;
	uint64_t rss[SPARK_MOST];
};

/**
 * struct sparks - the history of a process
 * @tags:	of each of its tags in the newest sample, in their order
 * @total:	of all together
 */
struct sparks {
	struct spark *tags;
	struct spark total;
};

/*
 * Adds a sample. The history goes on for each tag that was in the sample @before, which is NULL for
 * the first one, under the same path. Returns 0 or -ENOMEM.
 */
int spark_add(struct sparks *sparks, const struct proc *now, const struct proc *before);
void spark_clear(struct sparks *sparks);

/*
 * Prints the newest samples, the oldest of them first, in at most @width columns. The lowest bar
 * stands for the least of them and the highest for the most, but that is never less than an eighth
 * above the least: a constant or nearly constant history is flat.
 */
void spark_print(const struct fmt *fmt, const struct spark *spark, unsigned int width);

#endif
