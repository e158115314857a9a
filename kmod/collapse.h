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
 * holds mmap_lock for writing, a fault never does. (PREEMPT_RT, where locks look
 * different, has no huge pages.)
 */
static __always_inline bool mtag_collapsing(const struct mm_struct *mm)
{
#ifdef CONFIG_PREEMPT_RT
	return false;
#else
	/* Bit 0 marks a reader, bit 1 keeps waiters from spinning. */
	return MTAG_FAULT_COLLAPSES &&
	       (atomic_long_read(&mm->mmap_lock.owner) & ~2UL) == (unsigned long)current;
#endif
}

void mtag_collapse_removed(struct mtag_space *s, unsigned long addr, u32 tag,
			   struct mtag_leaf leaf);
void mtag_collapse_added(struct mtag_space *s, struct page *head, int nr, unsigned long addr);
MTAG_HOOK_FUNC(mtag_collapse_begin);

#endif /* MTAG_COLLAPSE_H */
