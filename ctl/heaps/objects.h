/* SPDX-License-Identifier: GPL-2.0 */
/* What a heap view tells of a process: its objects, and what each tag has. Nothing in it is taken for granted. */
#ifndef MTAGCTL_HEAPS_OBJECTS_H
#define MTAGCTL_HEAPS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/area.h"

/**
 * struct heap_source - where an area can be read
 * @read:	copies @length bytes from @offset on; 0 or a negative errno
 * @look:	a MTAG_OWNER_* for each of @n pages from @offset on, at most MTAG_OWNERS_MAX;
 *		0 or a negative errno; NULL: all of them may be there
 * @length:	bytes of the area
 */
struct heap_source {
	int (*read)(void *arg, uint64_t offset, void *to, size_t length);
	int (*look)(void *arg, uint64_t offset, size_t n, uint32_t *pages);
	void *arg;
	uint64_t length;
};

/**
 * struct heap_object - an object that is alive and was sampled
 * @end:	exclusive, as allocated; no two objects overlap
 * @asked:	bytes
 * @weight:	so many objects it stands for, at least 1
 * @tag:	an id below that of the tags that were asked for
 * @stack:	as struct mtag_heap_sample has it
 * @time:	likewise
 * @sequence:	later samples have a greater one, but for wrapping
 * @resident:	bytes of it on pages that are there; set by heap_view_make()
 */
struct heap_object {
	uint64_t address;
	uint64_t end;
	uint64_t asked;
	double weight;
	uint32_t tag;
	uint32_t stack;
	uint64_t time;
	uint32_t sequence;
	uint64_t resident;
};

/**
 * struct heap_sum - what is alive of a tag
 * @asked:	bytes
 * @allocated:	bytes
 * @objects:	how many
 * @variance:	of @asked; 0 if it was counted
 * @objects_variance: of @objects; likewise
 * @heaviest:	so many objects one sample stands for at most; likewise
 * @sampled:	estimate of @allocated by the samples alone
 */
struct heap_sum {
	double asked;
	double allocated;
	double objects;
	double variance;
	double objects_variance;
	double heaviest;
	double sampled;
};

/**
 * struct heap_objects - initially all 0
 * @head:	of the area, texts ended by NUL
 * @objects:	ascending by address
 * @sums:	by tag id
 * @skipped:	samples that were torn, or overlap a later one
 * @torn:	of these, which may well be alive
 */
struct heap_objects {
	struct mtag_heap_head head;
	struct heap_object *objects;
	size_t n_objects;
	struct heap_sum *sums;
	size_t n_tags;
	uint64_t skipped, torn;
};

/*
 * Reads an area; ids from @n_tags on are none, and count as untagged. 0; -EBADMSG if that is no area that can be
 * understood; -ENOMEM; or an error of the source.
 */
int heap_objects_read(const struct heap_source *source, size_t n_tags,
		      struct heap_objects *objects);
/* Likewise the sums alone, from the process's own counters, which are estimates where objects are sampled. */
int heap_objects_read_sums(const struct heap_source *source, size_t n_tags,
			   struct heap_objects *objects);
void heap_objects_clear(struct heap_objects *objects);

#endif
