/* SPDX-License-Identifier: GPL-2.0 */
/* The heaps of several processes as one. */
#ifndef MTAGCTL_HEAPS_SUM_H
#define MTAGCTL_HEAPS_SUM_H

#include "heaps/heap.h"

/* Adds what is known of a tag. */
void heap_sum_tag(struct heap_tag *sum, const struct heap_tag *tag);
/* Adds what is known of a process, but its tags; @first: to nothing. */
void heap_sum_process(struct heap_view *sum, const struct heap_view *view, bool first);

#endif
