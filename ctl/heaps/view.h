/* SPDX-License-Identifier: GPL-2.0 */
/* The heap of a process beside its pages: what is alive, and on which tag's pages; and the account of its RSS. */
#ifndef MTAGCTL_HEAPS_VIEW_H
#define MTAGCTL_HEAPS_VIEW_H

#include "heaps/heap.h"
#include "heaps/maps.h"
#include "heaps/objects.h"
#include "model.h"

/**
 * struct heap_pages - who is asked which pages are there, and whose they are
 * @look:	a MTAG_OWNER_* for each page from @start to @end, at most HEAP_LOOK; 0 or a negative errno
 */
struct heap_pages {
	int (*look)(void *arg, uint64_t start, uint64_t end, uint32_t *pages);
	void *arg;
};

#define HEAP_LOOK MTAG_OWNERS_MAX /* pages */
#define HEAP_PAGE UINT64_C(4096)  /* of all processors that the module is for */
#define HEAP_MOST                                                                                  \
	(UINT64_C(4) << 40) /* a larger mapping is no heap, and no more is looked at page by page */

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
	uint64_t area;
	uint64_t area_bytes;
};

/* 0, -ENOMEM, or an error of looking at pages. The caller clears it in each case. */
int heap_view_make(struct heap_view *view, const struct heap_parts *parts);
/* Likewise of objects that were not read, only their sums. */
int heap_view_sum(struct heap_view *view, const struct proc *proc,
		  const struct heap_objects *objects);

#endif
