/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the head of an area says of the heap of a process: how it is read, and what the allocator
 * says.
 */
#ifndef MTAGCTL_HEAPS_HEAD_H
#define MTAGCTL_HEAPS_HEAD_H

#include "heaps/heap.h"
#include "heaps/objects.h"

void heap_head_take(struct heap_view *view, const struct heap_objects *objects);

#endif
