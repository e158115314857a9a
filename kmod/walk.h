/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks over page tables: the first count of a space, repair, audit, retag.
 */
#ifndef MTAG_WALK_H
#define MTAG_WALK_H

#include "mtag.h"

/* Walks that do not come out exact are begun anew so often. */
#define MTAG_WALK_ATTEMPTS 8

/**
 * struct mtag_walk - a walk under way in a space
 * @cursor:	what is below has been counted; events there change @shadow too
 * @inexact:	an event came whose place could not be told: walk again
 * @shadow:	pages by tag and kind, as the walk finds them
 * @nr_tags:	of @shadow
 * @taken:	tags below this have their numbers from @shadow already, at the end
 * @retag:	the walk moves [@start, @cursor) to @tag
 * @start:	of the range that is retagged
 * @tag:	that it is retagged to
 *
 * All under space->walk_lock, @cursor is moved under the page-table lock too.
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

void mtag_charge_late(struct mtag_space *s, u32 tag, enum mtag_kind kind, bool counted);
void mtag_charge_spoil(struct mtag_space *s);
int mtag_walk_lock(struct mm_struct *mm);
int mtag_walk_build(struct mtag_space *s, struct mm_struct *mm, bool fresh);

/* What a page table holds at an address, whose page-table lock is held. */
struct page *mtag_visit_page(struct mm_struct *mm, unsigned long addr);
unsigned long mtag_visit_swap(struct mm_struct *mm, unsigned long addr);

/**
 * struct mtag_pte - an entry that a walk visits
 * @vma:	where it is
 * @addr:	of @page or @swap in @vma
 * @page:	the frame, or NULL for a swap entry
 * @swap:	swap entry
 * @nr:		frames from @page on: 1, or those of a huge page
 * @moving:	@page is under migration: the frame that it had
 */
struct mtag_pte {
	struct vm_area_struct *vma;
	unsigned long addr;
	struct page *page;
	unsigned long swap;
	int nr;
	bool moving;
};

/**
 * struct mtag_visitor - what a walk does
 * @visit:	called for each resident page and swap entry, under the page-table lock
 * @leave:	called before each page-table lock is dropped, with the end of what
 *		was visited, and for each range that has nothing
 * @s:		space, whose walk_lock is held for both
 * @migrating:	pages under migration that are charged to nobody
 */
struct mtag_visitor {
	void (*visit)(struct mtag_visitor *v, const struct mtag_pte *pte);
	void (*leave)(struct mtag_visitor *v, unsigned long end);
	struct mtag_space *s;
	u64 migrating;
};

void mtag_visit_vma(struct mtag_visitor *v, struct vm_area_struct *vma, unsigned long addr,
		   unsigned long end);

#endif /* MTAG_WALK_H */
