// SPDX-License-Identifier: GPL-2.0
/*
 * What the head of an area says of the heap of a process: how it is read, and what the allocator
 * says.
 */
#include <string.h>
#include <time.h>

#include "heaps/head.h"

/* Since a time of CLOCK_MONOTONIC. */
static uint64_t seconds_since(uint64_t nanoseconds)
{
	struct timespec now;
	uint64_t seconds = nanoseconds / 1000000000;

	if (clock_gettime(CLOCK_MONOTONIC, &now) || (uint64_t)now.tv_sec < seconds)
		return 0;
	return (uint64_t)now.tv_sec - seconds;
}

void heap_head_take(struct heap_view *view, const struct heap_objects *objects)
{
	const struct mtag_heap_head *head = &objects->head;
	const struct mtag_heap_figures *figures = &head->figures;

	_Static_assert(sizeof(view->allocator) >= 3 * sizeof(head->allocator), "nothing is cut");
	_Static_assert(sizeof(view->reason) >= 3 * sizeof(head->reason), "nothing is cut");
	memcpy(view->allocator, head->allocator, sizeof(head->allocator));
	memcpy(view->reason, head->reason, sizeof(head->reason));
	view->exact = head->mode == MTAG_HEAP_EXACT;
	view->bypassed = head->flags & MTAG_HEAP_BYPASSED;
	view->instead = head->wanted != head->mode;
	view->period = head->period;
	view->seen = head->seen;
	view->lost = head->samples_lost + objects->torn;
	view->damaged = head->damaged;
	view->knows_retained = figures->time && figures->known & MTAG_HEAP_KNOWS_RETAINED;
	if (!view->knows_retained)
		return;
	view->retained = figures->retained;
	view->age = seconds_since(figures->time);
}
