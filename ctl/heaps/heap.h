/* SPDX-License-Identifier: GPL-2.0 */
/* The heap of a process in the model: what of each tag is alive, and what RSS consists of. */
#ifndef MTAGCTL_HEAPS_HEAP_H
#define MTAGCTL_HEAPS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The top-level tag that the library gives its own memory to: a process with it has a heap view, or has had one. */
#define HEAP_VIEW_TAG "[heap view]"

/* Bytes with a NUL: of texts in an area, in which each wrong one becomes U+FFFD in a snapshot. */
#define HEAP_ALLOCATOR (3 * 64)
#define HEAP_REASON    (3 * 128)

/* What a RSS consists of: the terms of a tag add up to its own, those of a process likewise. */
enum heap_term {
	TERM_LIVE,   /* objects that are alive; of a tag, its own ones */
	TERM_GUESTS, /* of a tag: objects of other tags on its pages */
	TERM_WASTED, /* of a tag: the rest of the allocator's memory */
	TERM_FREE,   /* of a process: what the allocator keeps free, at most, as far as it tells */
	TERM_OWN, /* of a process: the rest of its memory, headers, what is rounded up, fragments */
	TERM_STACKS, /* of threads, as far as they are known */
	TERM_FILES,  /* pages of files */
	TERM_DATA,   /* copies of them: data of the program and its libraries */
	TERM_SHARED, /* shared memory */
	TERM_VIEW,   /* the heap view itself */
	TERM_OTHER,  /* anonymous memory of other kinds */
	TERMS
};

/**
 * struct heap_account - what a RSS consists of
 * @bytes:	by enum heap_term
 * @live_error:	1 sigma of TERM_LIVE
 * @guests_error: 1 sigma of TERM_GUESTS; what remains of the allocator's memory has the error of both
 * @free_least:	of TERM_FREE, what is resident whatever the rest is: that may be TERM_OWN, too
 */
struct heap_account {
	uint64_t bytes[TERMS];
	uint64_t live_error, guests_error, free_least;
};

/**
 * struct heap_tag - a tag's part of the heap, bytes
 * @id:		of the tag
 * @objects:	alive
 * @objects_error: 1 sigma of that; 0 if they were counted
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
 * @account:	of the tag's RSS
 */
struct heap_tag {
	uint16_t id;
	uint64_t objects, objects_error, asked, error, allocated;
	uint64_t resident, resident_error, swapped, untouched, foreign, pages, wasted;
	struct heap_account account;
};

/**
 * struct heap_view - the heap of a process; initially all 0
 * @tags:	those that have anything, ascending by id; heap_sort() makes that so
 * @sums_only:	of them @asked, @allocated and @objects alone were read, and all else here but @exact is 0
 * @wasted_before: but @wasted, which is that of a moment before
 * @account:	of the process's RSS
 * @exact:	bytes are counted, not sampled
 * @bypassed:	the program has a malloc() of its own, which need not call the view's
 * @instead:	they are sampled, though counting was asked for, for
 * @reason:	that reason, or ""
 * @period:	mean distance of samples, bytes
 * @seen:	allocations that have come by
 * @lost:	samples for which there was no room, or that could not be read
 * @damaged:	objects whose note of an exact count was overwritten: they count as alive for ever
 * @allocator:	its name, or ""
 * @knows_retained: it tells
 * @retained:	what it keeps free, touched or not, and told so
 * @age:	seconds ago
 */
struct heap_view {
	struct heap_tag *tags;
	size_t n, room;
	bool sums_only, wasted_before;
	struct heap_account account;
	bool exact, bypassed, instead, knows_retained;
	uint64_t period, seen, lost, damaged, retained, age;
	char allocator[HEAP_ALLOCATOR];
	char reason[HEAP_REASON];
};

static inline uint64_t heap_rss(const struct heap_account *account)
{
	uint64_t rss = 0;

	for (int i = 0; i < TERMS; i++)
		rss += account->bytes[i];
	return rss;
}

/* NULL if the tag has nothing, or there is no view. */
static inline const struct heap_tag *heap_find(const struct heap_view *view, uint16_t id)
{
	size_t low = 0, high = view ? view->n : 0;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (view->tags[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return view && low < view->n && view->tags[low].id == id ? &view->tags[low] : NULL;
}

static inline int heap_by_id(const void *a, const void *b)
{
	const struct heap_tag *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static inline void heap_sort(struct heap_view *view)
{
	if (view->n)
		qsort(view->tags, view->n, sizeof(*view->tags), heap_by_id);
}

static inline void heap_view_clear(struct heap_view *view)
{
	free(view->tags);
	*view = (struct heap_view){0};
}

#endif
