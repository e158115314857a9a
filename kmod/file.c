// SPDX-License-Identifier: GPL-2.0
/*
 * Charge pages of files and of shared memory to the tag that mapped their range.
 */
#include <linux/hugetlb.h>
#include <linux/pagemap.h>
#include "account.h"
#include "charge.h"
#include "file.h"
#include "migrate.h"
#include "mtag.h"
#include "range.h"
#include "state.h"
#include "visit.h"

/* Has a retag passed @addr? Then its pages have its tag already. @single: one is under way. */
static bool passed_by_retag(struct mtag_space *s, unsigned long addr, u32 *tag, bool *single)
{
	const struct mtag_walk *w;
	bool passed = false;

	*single = false;
	if (READ_ONCE(s->slow) & MTAG_SLOW_WALK) {
		raw_spin_lock(&s->walk_lock);
		w = s->walk;
		if (w && w->retag) {
			*single = true;
			*tag = w->tag;
			passed = addr >= w->start && addr < w->cursor;
		}
		raw_spin_unlock(&s->walk_lock);
	}
	return passed;
}

/* Like mtag_range_event(), but pages that a retag has passed already have their new tag. */
static u32 event_tag(struct mtag_space *s, const struct vm_area_struct *vma, unsigned long addr,
		     unsigned long *end)
{
	bool single;
	u32 tag;

	if (!passed_by_retag(s, addr, &tag, &single)) {
		/* Pairs with the end of a retag: who misses its flag sees its new ranges. */
		smp_rmb();
		tag = mtag_range_event(s, vma, addr, end);
	}
	if (single)
		*end = addr + PAGE_SIZE;
	return tag;
}

/*
 * Find the address that @page of a file is mapped at in @vma. False for pages that a driver
 * inserted: their address cannot be told.
 */
bool mtag_file_place(const struct vm_area_struct *vma, const struct page *page,
		     unsigned long *addr)
{
	const struct folio *folio = page_folio((struct page *)page);

	if (!vma->vm_file || READ_ONCE(folio->mapping) != vma->vm_file->f_mapping)
		return false;
	*addr = vma->vm_start +
		((folio->index + (page - &folio->page) - vma->vm_pgoff) << PAGE_SHIFT);
	return *addr >= vma->vm_start && *addr < vma->vm_end;
}

/**
 * mtag_file_addr() - find the address of @page of a file in @vma
 * @vma:	mapping of a file, of shared memory or of a driver
 * @page:	head, tail or single
 *
 * Return: the address; the start of @vma for pages that a driver inserted, whose
 * address cannot be told. Such a mapping is never merged with another.
 */
unsigned long mtag_file_addr(const struct vm_area_struct *vma, const struct page *page)
{
	unsigned long addr;

	return mtag_file_place(vma, page, &addr) ? addr : vma->vm_start;
}

/* As mtag_file_charge(). @cut_off: a walk may have missed the pages. */
static void charge_file(struct mtag_space *s, const struct vm_area_struct *vma,
			const struct page *page, int nr, int sign, bool cut_off)
{
	enum mtag_kind kind = mtag_file_kind(page);
	unsigned long addr = mtag_file_addr(vma, page), end, last = addr + nr * PAGE_SIZE;
	int pages;
	u32 tag;

	if (is_vm_hugetlb_page((struct vm_area_struct *)vma))
		return;
	for (; addr < last; addr += pages * PAGE_SIZE) {
		tag = event_tag(s, vma, addr, &end);
		pages = (min(end, last) - addr) >> PAGE_SHIFT;
		mtag_charge(s, tag, kind, sign * pages, cut_off ? MTAG_CUT_OFF : addr);
		if (sign > 0)
			mtag_account_touch(s, tag, pages);
	}
}

/**
 * mtag_file_charge() - charge @nr pages of a file, or release them
 * @s:		space
 * @vma:	mapping of the pages
 * @page:	first page
 * @nr:		number of pages
 * @sign:	1 or -1
 *
 * Context: page-table lock of the mapping.
 */
void mtag_file_charge(struct mtag_space *s, const struct vm_area_struct *vma,
		      const struct page *page, int nr, int sign)
{
	charge_file(s, vma, page, nr, sign, false);
}

/* As mtag_file_charge(), releases pages that are told of late: their page table may be gone. */
void mtag_file_flushed(struct mtag_space *s, const struct vm_area_struct *vma,
		       const struct page *page, int nr)
{
	bool cut_off = (READ_ONCE(s->slow) & MTAG_SLOW_WALK) &&
		       mtag_visit_cut_off(vma->vm_mm, mtag_file_addr(vma, page));

	charge_file(s, vma, page, nr, -1, cut_off);
}

/**
 * mtag_file_taken() - migration takes pages of a file away
 * @s:		space
 * @vma:	mapping of the pages
 * @page:	first page
 * @nr:		number of pages
 *
 * Context: page-table lock of the mapping.
 */
void mtag_file_taken(struct mtag_space *s, const struct vm_area_struct *vma,
		     const struct page *page, int nr)
{
	enum mtag_kind kind = mtag_file_kind(page);
	unsigned long addr, end;
	u32 tag;
	int i;

	if (!mtag_file_place(vma, page, &addr)) {
		mtag_file_charge(s, vma, page, nr, -1);
		return;
	}
	for (i = 0; i < nr; i++, addr += PAGE_SIZE) {
		tag = event_tag(s, vma, addr, &end);
		if (!mtag_migrate_take(s, page + i, 1, addr, tag, kind))
			mtag_charge(s, tag, kind, -1, addr);
	}
}

/* Migration brings pages back, still charged, perhaps to a tag that their range no longer has. */
void mtag_file_restored(struct mtag_space *s, const struct vm_area_struct *vma,
			const struct page *page, int nr)
{
	enum mtag_kind kind = mtag_file_kind(page);
	unsigned long addr, end;
	u32 tag, old;
	int i;

	if (!mtag_file_place(vma, page, &addr)) {
		mtag_file_charge(s, vma, page, nr, 1);
		return;
	}
	for (i = 0; i < nr; i++, addr += PAGE_SIZE) {
		tag = event_tag(s, vma, addr, &end);
		if (!mtag_migrate_restore(s, addr, &old)) {
			mtag_charge(s, tag, kind, 1, addr);
		} else if (old != tag) {
			mtag_charge(s, old, kind, -1, addr);
			mtag_charge(s, tag, kind, 1, addr);
		}
	}
}
