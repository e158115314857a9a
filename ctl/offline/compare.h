/* SPDX-License-Identifier: GPL-2.0 */
/* Compares samples: the tags of all processes of a name, at the first and at the last of them. */
#ifndef MTAGCTL_OFFLINE_COMPARE_H
#define MTAGCTL_OFFLINE_COMPARE_H

#include "format/diff.h"
#include "model.h"

#define SERIES_MOST (512 << 20) /* bytes */

/**
 * struct series - samples that were added, oldest first
 * @by_stack:	what is compared are the stacks beneath the tags; set before the first is added
 * @diffs:	what any of them had; all samples are in it after series_settle()
 * @root:	these by their names, and
 * @rates:	rates of stacks by the names of processes: trees of tsearch(3)
 * @size:	what they take, in bytes
 * @samples:	how many were added
 * @odd:	after -EDOM the name of the processes, maybe cut off
 */
struct series {
	bool by_stack;
	struct diff **diffs;
	size_t n, room;
	void *root, *rates;
	size_t size;
	unsigned long samples;
	char odd[32];
};

/*
 * 0, -ENOMEM, -ENODATA if stacks are wanted and the sample has none, -EDOM if those of processes of one name were
 * sampled at different rates, or -E2BIG if the series gets larger than SERIES_MOST. After an error it can only be cleared.
 */
int series_add(struct series *series, const struct snap *snap);
/* Takes into account what the last samples no longer had. */
void series_settle(struct series *series);
void series_clear(struct series *series);

/* Keep of the series what changed, largest growth first; then nothing can be added. */
void series_keep_changed(struct series *series);
/* Or what never shrank and grew at least twice: a step of growth alone is a program that fills a cache. */
void series_keep_grown(struct series *series);

#endif
