/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sample: all tags of this process, and their order. */
#ifndef MTAG_LIB_SAMPLE_H
#define MTAG_LIB_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/linux/mtag.h"

#define MTAG__COMM_BYTES 64

/**
 * struct mtag__tag - a tag in a sample
 * @id:		ascends
 * @parent_id:	MTAG_ID_UNTAGGED for a top-level tag
 * @parent:	index in the sample, -1 for a top-level tag; so are the others
 * @first:	the first tag below it, or -1
 * @next:	the next one below the same parent, or -1
 * @depth:	components of the path; 0 for the untagged
 * @name:	the last component
 * @c:		self values by MTAG_C_*
 * @total_rss:	of this tag and of all below it
 */
struct mtag__tag {
	uint16_t id, parent_id;
	int parent, first, next;
	unsigned depth;
	char name[MTAG_NAME_MAX + 1];
	uint64_t c[MTAG_C_NR];
	uint64_t total_rss;
};

/**
 * struct mtag__sample - all tags of this process
 * @tags:	ascending by id; an empty [ksm] is left out
 * @first:	the first top-level tag, or -1
 * @rss:	of all tags
 * @area:	the memory for it, which is charged to untagged; once the sample is taken, its first
 *		MTAG__MESSAGE_BYTES are free
 */
struct mtag__sample {
	struct mtag__tag *tags;
	size_t n, room;
	int first;
	uint64_t rss, lost, overflow, repairs;
	uint32_t pid;
	char comm[MTAG__COMM_BYTES];
	void *area;
	size_t bytes;
};

/* Reads the sample. Returns 0 or -errno; free it only after 0. errno is kept. */
int mtag__sample_take(struct mtag__sample *sample);
void mtag__sample_free(struct mtag__sample *sample);

/*
 * The tag after @at, depth first: siblings by id, or as mtag__sample_by_size() left them. After -1
 * comes the first tag, and after the last one -1.
 */
int mtag__sample_next(const struct mtag__sample *sample, int at);
/* Puts siblings with the largest total first. */
void mtag__sample_by_size(struct mtag__sample *sample);

uint64_t mtag__tag_rss(const struct mtag__tag *tag);

/* Gives a range to untagged, whichever thread touches it. */
void mtag__untagged(void *addr, size_t len);

#endif
