/* SPDX-License-Identifier: GPL-2.0 */
/* The heap of a process beside its pages: what is alive, and on which tag's pages; and the account of its RSS. */
#ifndef MTAGCTL_HEAPS_VIEW_H
#define MTAGCTL_HEAPS_VIEW_H

#include "heaps/heap.h"
#include "heaps/parts.h"

/* 0, -ENOMEM, or an error of looking at pages. The caller clears it in each case. */
int heap_view_make(struct heap_view *view, const struct heap_parts *parts);
/* Likewise of objects that were not read, only their sums. */
int heap_view_sum(struct heap_view *view, const struct proc *proc,
		  const struct heap_objects *objects);

#endif
