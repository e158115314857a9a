/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Visit the page tables of a process, entry by entry; visit.c.
 */
#ifndef MTAG_VISIT_H
#define MTAG_VISIT_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct mtag_space;

/**
 * struct mtag_pte - an entry that a walk visits
 * @vma:	mapping that has the entry
 * @addr:	address of @page or @swap in @vma
 * @page:	page frame, or NULL for a swap entry
 * @swap:	swap entry
 * @nr:		number of frames from @page on: 1, or those of a huge page
 * @moving:	the page is under migration; @page is the frame that it had
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
 * struct mtag_visitor - callbacks and state of a walk
 * @visit:	called for each resident page and swap entry, under the page-table lock
 * @zero:	called for each mapping of the shared zero page, likewise; or NULL
 * @leave:	called before each page-table lock is dropped, with the end of the range
 *		visited, and for each empty range; or NULL
 * @s:		space; its walk_lock is held for all callbacks
 * @migrating:	number of pages under migration that are charged to nobody
 */
struct mtag_visitor {
	void (*visit)(struct mtag_visitor *v, const struct mtag_pte *pte);
	void (*zero)(struct mtag_visitor *v, unsigned long addr, int nr);
	void (*leave)(struct mtag_visitor *v, unsigned long end);
	struct mtag_space *s;
	u64 migrating;
};

void mtag_visit_vma(struct mtag_visitor *v, struct vm_area_struct *vma, unsigned long addr,
		    unsigned long end);
int mtag_visit_mm(struct mtag_visitor *v, struct mm_struct *mm, unsigned long stride,
		  int (*before)(struct mtag_visitor *v));

/* The contents of the page-table entry at @addr. Context: its page-table lock. */
struct page *mtag_visit_page(struct mm_struct *mm, unsigned long addr);
unsigned long mtag_visit_swap(struct mm_struct *mm, unsigned long addr);

bool mtag_visit_empty(struct mm_struct *mm, unsigned long addr);

#endif /* MTAG_VISIT_H */
