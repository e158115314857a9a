/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the view of a heap is made of; and which parts of mappings are the allocator's, or a stack.
 */
#ifndef MTAGCTL_HEAPS_PARTS_H
#define MTAGCTL_HEAPS_PARTS_H

#include "ctl.h"
#include "heaps/maps.h"
#include "heaps/objects.h"
#include "model.h"

/**
 * struct heap_pages - who is asked which pages are there, and whose they are
 * @look:	a MTAG_OWNER_* for each page from @start to @end, at most HEAP_LOOK;
 *		0 or a negative errno
 */
struct heap_pages {
	int (*look)(void *arg, uint64_t start, uint64_t end, uint32_t *pages);
	void *arg;
};

/**
 * struct heap_memory - who is asked what is in the memory of the process
 * @read:	copies from a page that is there; 0 or a negative errno; NULL: there is nobody
 */
struct heap_memory {
	int (*read)(void *arg, uint64_t address, void *to, size_t length);
	void *arg;
};

#define HEAP_LOOK MTAG_OWNERS_MAX     /* pages */
#define HEAP_MOST (UINT64_C(4) << 40) /* a larger mapping is no heap */

/**
 * struct heap_parts - what a view is made of
 * @area:	where the heap view's own area is
 * @area_bytes:	its size
 */
struct heap_parts {
	const struct proc *proc;
	struct heap_objects *objects;
	struct heap_maps *maps;
	struct heap_pages pages;
	struct heap_memory memory;
	uint64_t area;
	uint64_t area_bytes;
};

/* A part of a mapping that is for something else than the rest; whole pages. */
struct heap_span {
	uint64_t start;
	uint64_t end; /* exclusive */
	enum heap_kind kind;
};

/* Ascending; initially all 0. */
struct heap_spans {
	struct heap_span *spans;
	size_t n, room;
};

/*
 * Sets the kinds of anonymous mappings, and finds the parts of them that are of another. 0 or
 * -ENOMEM.
 */
int heap_parts_find(const struct heap_parts *parts, struct heap_spans *spans);
void heap_spans_clear(struct heap_spans *spans);

#endif
