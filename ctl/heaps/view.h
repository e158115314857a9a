/* SPDX-License-Identifier: GPL-2.0 */
/* The heap of a process beside its pages: what is alive, and on which tag's pages; and the account of its RSS. */
#ifndef MTAGCTL_HEAPS_VIEW_H
#define MTAGCTL_HEAPS_VIEW_H

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

/* The tag that the library gives its own memory to. */
#define HEAP_VIEW_TAG "[heap view]"

/**
 * struct heap_tag - a tag's part of the heap, bytes
 * @tag:	of the process
 * @objects:	alive
 * @asked:	of them
 * @error:	1 sigma of that; 0 if it was counted
 * @allocated:	what they can use: @resident, @swapped and @untouched
 * @resident:	on pages that are there
 * @resident_error: 1 sigma of that
 * @swapped:	on pages in swap
 * @untouched:	on pages that were never touched
 * @foreign:	of @resident on pages that another tag is charged for
 * @pages:	resident pages of the allocator's memory that this tag is charged for
 * @wasted:	of @pages what no object is on
 */
struct heap_tag {
	const struct tag *tag;
	uint64_t objects, asked, error, allocated;
	uint64_t resident, resident_error, swapped, untouched, foreign, pages, wasted;
};

/**
 * struct heap_account - what the RSS of a process consists of, bytes: the sum of all but the first is @rss
 * @rss:	as smaps adds it up
 * @live:	objects that are alive
 * @free:	what the allocator keeps free, as far as it tells
 * @own:	the rest of the allocator's memory: headers, what is rounded up, fragments
 * @stacks:	of threads, as far as they are known
 * @files:	pages of files
 * @data:	copies of them: data of the program and its libraries
 * @shared:	shared memory
 * @view:	the heap view itself
 * @other:	anonymous memory of other kinds
 * @error:	1 sigma of @live, and so of @own
 */
struct heap_account {
	uint64_t rss;
	uint64_t live, free, own, stacks, files, data, shared, view, other;
	uint64_t error;
};

/**
 * struct heap_view - initially all 0
 * @tags:	those that have anything
 * @retained:	what the allocator keeps free, touched or not
 * @knows_retained: it tells that
 */
struct heap_view {
	const struct proc *proc;
	const struct heap_objects *objects;
	struct heap_tag *tags;
	size_t n;
	struct heap_account account;
	uint64_t retained;
	bool knows_retained;
};

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

/* The parts must outlive the view. 0, -ENOMEM, or an error of looking at pages. */
int heap_view_make(struct heap_view *view, const struct heap_parts *parts);
void heap_view_clear(struct heap_view *view);

#endif
