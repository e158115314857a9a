/* SPDX-License-Identifier: GPL-2.0 */
/* What was known of the pages of a heap, beside newer sums. */
#ifndef MTAGCTL_HEAPS_CARRY_H
#define MTAGCTL_HEAPS_CARRY_H

#include "heaps/heap.h"

/* Has @now, of which only sums were read, take over what is wasted of @before. 0 or -ENOMEM. */
int heap_carry(struct heap_view *now, const struct heap_view *before);

#endif
