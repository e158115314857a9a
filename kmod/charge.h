/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Charge pages to tags and release them; charge.c.
 */
#ifndef MTAG_CHARGE_H
#define MTAG_CHARGE_H

#include <linux/limits.h>
#include <asm/ibt.h>
#include "account.h"
#include "state.h"

/* The address of an event that does not tell it. */
#define MTAG_NO_ADDR	ULONG_MAX
#define MTAG_CUT_OFF	(ULONG_MAX - 1)	/* a walk may have missed the pages: mtag_file_flushed() */

/* The address @i pages beyond @addr. */
static inline unsigned long mtag_addr_behind(unsigned long addr, int i)
{
	return addr == MTAG_NO_ADDR ? addr : addr + i * PAGE_SIZE;
}

/**
 * struct mtag_walk - a walk under way in a space
 * @cursor:	pages below have been counted; events there change @shadow too
 * @inexact:	an event came whose place is unknown: walk again. For a retag: one of pages that it
 *		may have missed
 * @shadow:	pages by tag and kind, as the walk finds them
 * @nr_tags:	number of tags in @shadow
 * @taken:	tags below this already have their numbers from @shadow, at the end
 * @retag:	the walk moves [@start, @cursor) to @tag
 * @start:	start of the range that is retagged
 * @tag:	new tag of the range
 *
 * All under space->walk_lock; @cursor also moves under the page-table lock.
 */
struct mtag_walk {
	unsigned long cursor;
	bool inexact;
	unsigned int nr_tags;
	unsigned int taken;
	s64 (*shadow)[MTAG_KINDS];
	bool retag;
	unsigned long start;
	u32 tag;
};

void __noendbr mtag_charge(struct mtag_space *s, u32 tag, enum mtag_kind kind, int pages,
			   unsigned long addr);
void __noendbr mtag_charge_replacing(struct mtag_space *s, u32 tag, unsigned long addr);
void mtag_charge_late(struct mtag_space *s, u32 tag, enum mtag_kind kind, bool counted);
void mtag_charge_spoil(struct mtag_space *s);

#endif /* MTAG_CHARGE_H */
