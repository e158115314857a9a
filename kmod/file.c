// SPDX-License-Identifier: GPL-2.0
/*
 * Charges pages of files and of shared memory to the tag that mapped their range.
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
#include "compat/wait.h"

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
		/*
		 * Pairs with the full barrier in which retag_set() clears the flag: an event that
		 * misses the flag sees the new ranges.
		 */
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
 * mtag_file_unplaced() - may @vma be merged although its pages cannot tell their place?
 * @vma:	any mapping
 *
 * A driver's pages are charged to the tag at the start of their mapping. That stays the same tag as
 * long as the mapping has one range, see tag_over() in event.c, and is not merged with another,
 * which the flags of most drivers' mappings rule out. The others, such as KVM's of a virtual CPU,
 * always have the base tag: those whose file's page cache never has a page.
 *
 * Context: mmap_lock.
 */
bool mtag_file_unplaced(const struct vm_area_struct *vma)
{
	const struct address_space_operations *ops;

	if (!vma->vm_file || !vma->vm_ops || vma->vm_flags & VM_SPECIAL || vma_is_dax(vma))
		return false;
	ops = vma->vm_file->f_mapping->a_ops;
	return !ops->read_folio && !ops->readahead && !ops->write_begin && !ops->migrate_folio;
}

/**
 * mtag_file_addr() - find the address of @page of a file in @vma
 * @vma:	mapping of a file, of shared memory or of a driver
 * @page:	head, tail or single
 *
 * Return: the address; the start of @vma for pages that a driver inserted, whose
 * address cannot be told: see mtag_file_unplaced().
 */
unsigned long mtag_file_addr(const struct vm_area_struct *vma, const struct page *page)
{
	unsigned long addr;

	return mtag_file_place(vma, page, &addr) ? addr : vma->vm_start;
}

/*
 * Charges pages that cannot tell their place, or releases them: a walk under way may have counted
 * them, or not.
 */
static void charge_unplaced(struct mtag_space *s, const struct vm_area_struct *vma,
			    enum mtag_kind kind, int pages)
{
	unsigned long ignored;
	u32 tag = event_tag(s, vma, vma->vm_start, &ignored);

	/* A page of DAX that files share no longer tells its place: it may be charged elsewhere. */
	if (vma_is_dax(vma))
		mtag_space_mark_dirty(s);
	mtag_charge(s, tag, kind, pages, MTAG_NO_ADDR);
	if (pages > 0)
		mtag_account_touch(s, tag, pages);
}

/* As mtag_file_charge(). @cut_off: a walk may have missed the pages. */
static void charge_file(struct mtag_space *s, const struct vm_area_struct *vma,
			const struct page *page, int nr, int sign, bool cut_off)
{
	enum mtag_kind kind = mtag_file_kind(page);
	unsigned long addr, end, last;
	int pages;
	u32 tag;

	if (is_vm_hugetlb_page((struct vm_area_struct *)vma))
		return;
	if (!mtag_file_place(vma, page, &addr)) {
		charge_unplaced(s, vma, kind, sign * nr);
		return;
	}
	for (last = addr + nr * PAGE_SIZE; addr < last; addr += pages * PAGE_SIZE) {
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

/*
 * Like mtag_file_charge(), for file pages whose removal is reported late: their page table may be
 * gone by then, so its lock does not keep a walk from the one that has taken its place.
 */
void mtag_file_flushed(struct mtag_space *s, const struct vm_area_struct *vma,
		       const struct page *page, int nr)
{
	charge_file(s, vma, page, nr, -1, mtag_vma_may_be_cut(vma));
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
