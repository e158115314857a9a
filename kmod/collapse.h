/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collapse of small pages into a huge one; collapse.c.
 */
#ifndef MTAG_COLLAPSE_H
#define MTAG_COLLAPSE_H

#include "compat/compat.h"
#include "hooked.h"
#include "leaf.h"
#include "state.h"

/*
 * Does a page that is mapped by MTAG_BY_MAP come from a collapse? A collapse
 * holds mmap_lock for writing, a fault never does.
 */
static __always_inline bool mtag_collapsing(const struct mm_struct *mm)
{
	return MTAG_FAULT_COLLAPSES && mtag_is_writer(mm, current);
}

void mtag_collapse_removed(struct mtag_space *s, unsigned long addr, u32 tag,
			   struct mtag_leaf leaf);
void mtag_collapse_added(struct mtag_space *s, struct page *head, int nr, unsigned long addr);
MTAG_HOOK_FUNC(mtag_collapse_begin);

#endif /* MTAG_COLLAPSE_H */
