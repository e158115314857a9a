/* SPDX-License-Identifier: GPL-2.0 */
/* What diff prints: tags, or stacks, of two samples side by side, or those that only grew over a series. */
#ifndef MTAGCTL_FORMAT_DIFF_H
#define MTAGCTL_FORMAT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/fmt.h"

/* What is compared of a tag. */
enum { DIFF_ANON, DIFF_FILE, DIFF_SHMEM, DIFF_SWAP, DIFF_NR };

/**
 * struct diff_heap - the heap of a tag
 * @known:	of all processes that have it; else all else is 0. A tag that is not there has none, which is known
 * @asked:	bytes alive
 * @variance:	of @asked
 * @objects:	alive
 * @wasted:	bytes
 * @guests:	bytes of other tags' objects on its pages
 */
struct diff_heap {
	bool known;
	uint64_t asked, objects, wasted, guests;
	double variance;
};

/**
 * struct diff - a tag, or a stack beneath one, of all processes of a name
 * @comm:	the name of the processes
 * @tag:	the path, "" for the untagged
 * @stack:	its functions, the outermost first, a line each; NULL for a tag
 * @before:	in the first sample, 0 if it had no such tag
 * @after:	in the last one, likewise
 * @heap_before: likewise, of its heap
 * @heap_after:	likewise
 * @grew:	steps in which it grew
 * @shrank:	it became smaller in a step
 * @seen:	number of the last sample that is taken into account
 */
struct diff {
	char *comm;
	char *tag;
	char *stack;
	uint64_t before[DIFF_NR];
	uint64_t after[DIFF_NR];
	struct diff_heap heap_before, heap_after;
	unsigned long grew;
	bool shrank;
	unsigned long seen;
};

/* What reclaim cannot take away: anonymous and shared memory, resident or in swap. */
uint64_t diff_held(const uint64_t *values);
uint64_t diff_rss(const uint64_t *values);

/* Both samples have its heap. */
bool diff_has_heap(const struct diff *diff);

/**
 * struct growth - the series of which the tags that only grew are printed
 * @steps:	from one sample to the next
 * @span:	milliseconds between the first and the last
 */
struct growth {
	unsigned long steps;
	uint64_t span;
};

/**
 * struct diffs - what is printed
 * @diffs:	@n of them, the largest first
 * @most:	only so many; 0: all
 * @growth:	NULL for two samples
 */
struct diffs {
	struct diff *const *diffs;
	size_t n;
	unsigned long most;
	const struct growth *growth;
};

void diff_text(const struct fmt *fmt, const struct diffs *diffs);
/* 0 or -ENOMEM. */
int diff_json(const struct fmt *fmt, const struct diffs *diffs);

#endif
