// SPDX-License-Identifier: GPL-2.0
/*
 * Owners of swapped-out pages: a u16 per swap slot, written when reclaim replaces
 * a mapping by a swap entry, read when the contents come back to memory.
 *
 * The swap of a space is counted where its page tables change: out when reclaim
 * removes the mapping, in at the rmap add of do_swap_page() and swapoff, freed at
 * free_swap_and_cache() by a zap.
 */
#include <linux/hugetlb.h>
#include <linux/page-flags.h>
#include <linux/pagewalk.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/xarray.h>
#include "account.h"
#include "caller.h"
#include "charge.h"
#include "compat/compat.h"
#include "hooked.h"
#include "leaf.h"
#include "mtag.h"
#include "owner.h"
#include "sleep.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "swap.h"
#include "visit.h"
#include "zap.h"

/* Pages of owners, by swap entry / SLOTS; entries of one device are consecutive. */
#define SLOTS (PAGE_SIZE / sizeof(u16))
static DEFINE_XARRAY_FLAGS(pages, XA_FLAGS_LOCK_IRQ);

/*
 * Indices of the pages that could not be allocated. They stay holes until the
 * hooks are out: entries charged to untagged because of a hole must be released
 * from untagged, even if a relative's mapping is replaced by the same entry later,
 * when memory is available. Beyond HOLES_MAX every page counts as a hole.
 */
#define HOLES_MAX 64
static unsigned long holes[HOLES_MAX];
static unsigned int nr_holes;
static DEFINE_RAW_SPINLOCK(holes_lock);	/* protects changes of both */

static bool is_hole(unsigned long index)
{
	unsigned int i, nr = smp_load_acquire(&nr_holes);	/* pairs with hole_add() */

	for (i = 0; i < min(nr, HOLES_MAX); i++)
		if (holes[i] == index)
			return true;
	return nr > HOLES_MAX;
}

static void hole_add(unsigned long index)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&holes_lock, flags);
	if (!is_hole(index)) {
		if (nr_holes < HOLES_MAX)
			holes[nr_holes] = index;
		/* Pairs with is_hole(). */
		smp_store_release(&nr_holes, nr_holes + 1);
	}
	raw_spin_unlock_irqrestore(&holes_lock, flags);
	/* A CPU that found a page there a moment ago will not find it again. */
	mtag_space_mark_all_dirty();
}

static u16 *owner_slot(unsigned long entry)
{
	u16 *page;

	if (unlikely(READ_ONCE(nr_holes)) && is_hole(entry / SLOTS))
		return NULL;
	page = xa_load(&pages, entry / SLOTS);
	return page ? page + entry % SLOTS : NULL;
}

/* Uses the memory reserves: one page here lets reclaim free 2,048 pages. */
static u16 *page_make(unsigned long index)
{
	u16 *page, *other;
	unsigned long flags;

	page = (u16 *)get_zeroed_page(GFP_ATOMIC | __GFP_NOWARN);
	if (!page)
		return NULL;
	xa_lock_irqsave(&pages, flags);
	other = __xa_cmpxchg(&pages, index, NULL, page, GFP_ATOMIC | __GFP_NOWARN);
	xa_unlock_irqrestore(&pages, flags);
	if (other) {
		free_page((unsigned long)page);
		return xa_is_err(other) ? NULL : other;
	}
	atomic64_add(PAGE_SIZE, &mtag_stat.memory);
	return page;
}

static u16 *owner_slot_make(unsigned long entry)
{
	u16 *slot = owner_slot(entry), *page = NULL;

	if (slot || is_hole(entry / SLOTS))
		return slot;
	if (mtag_lock_begin()) {
		page = page_make(entry / SLOTS);
		mtag_lock_end();
	}
	if (page)
		return page + entry % SLOTS;
	hole_add(entry / SLOTS);
	return NULL;
}

/* The owner of the contents of a swap entry. Context: any. */
u32 mtag_swap_tag(unsigned long entry)
{
	u16 *slot;
	u32 tag;

	rcu_read_lock();
	slot = owner_slot(entry);
	tag = slot ? READ_ONCE(*slot) : MTAG_ID_UNTAGGED;
	rcu_read_unlock();
	return tag;
}

/* Context: lock of a page table that holds the entry. */
void mtag_swap_set(unsigned long entry, u32 tag)
{
	u16 *slot = tag == MTAG_ID_UNTAGGED ? owner_slot(entry) : owner_slot_make(entry);

	if (slot)
		WRITE_ONCE(*slot, tag);
}

/**
 * mtag_swap_own() - a page is from here on owned as the swap slot whose contents it has
 * @mm:		mm of the mapping
 * @page:	page read from swap
 * @addr:	where its swap entry is
 *
 * Context: page-table lock of the mapping.
 */
void mtag_swap_own(struct mm_struct *mm, struct page *page, unsigned long addr)
{
	unsigned long entry = mtag_visit_swap(mm, addr);

	mtag_owner_change(page, mtag_swap_tag(entry));
	mtag_leaf_set(page, 1, mtag_leaf_slot(entry));
}

/**
 * mtag_swap_left() - the swap entry that reclaim left for a page
 * @page:	just unmapped
 * @mm:		mm of the mapping
 * @addr:	where it was mapped, or MTAG_NO_ADDR: a KSM page does not tell
 *
 * Context: page-table lock; the entry is in the page table already.
 * Return: 0 if the contents are dropped.
 */
unsigned long mtag_swap_left(struct page *page, struct mm_struct *mm, unsigned long addr)
{
	struct folio *folio = page_folio(page);

	if (!folio_test_swapcache(folio))
		return 0;
	if (addr != MTAG_NO_ADDR)
		return mtag_visit_swap(mm, addr);
	return folio_test_swapbacked(folio) ? page_private(page) : 0;
}

/**
 * mtag_swap_out() - reclaim replaces a mapping of a page in @s by a swap entry
 * @s:		space
 * @entry:	swap entry, already in the page table
 * @tag:	owner of the page
 * @addr:	where it was mapped, or MTAG_NO_ADDR
 *
 * Context: page-table lock; the page is locked and in the swap cache.
 */
void __noendbr mtag_swap_out(struct mtag_space *s, unsigned long entry, u32 tag, unsigned long addr)
{
	mtag_swap_set(entry, tag);
	if (unlikely(mtag_swap_tag(entry) != tag)) {
		mtag_space_add_lost(s, 1);
		tag = mtag_swap_tag(entry);
	}
	mtag_charge(s, tag, MTAG_SWAP, 1, addr);
}

/**
 * mtag_swap_in() - the swap entry at @addr is about to become a page
 * @s:		space of @mm
 * @mm:		mm of the page table
 * @addr:	page-aligned
 *
 * Context: page-table lock; the page table still holds the entry.
 */
void __noendbr mtag_swap_in(struct mtag_space *s, struct mm_struct *mm, unsigned long addr)
{
	unsigned long entry = mtag_visit_swap(mm, addr);

	if (WARN_ON_ONCE(!entry))
		mtag_space_mark_dirty(s);
	else
		mtag_charge(s, mtag_swap_tag(entry), MTAG_SWAP, -1, addr);
}

/* swap_readpage(page, …), swap_read_folio(…): contents are read back to a locked page */
MTAG_HOOK_FUNC(mtag_swap_read)
{
	struct folio *folio = page_folio(mtag_swap_read_to(fregs));
	unsigned long entry = page_private(&folio->page);
	int i, nr = folio_nr_pages(folio);

	for (i = 0; i < nr; i++) {
		mtag_owner_set(folio_page(folio, i), mtag_swap_tag(entry + i));
		mtag_leaf_set(folio_page(folio, i), 1, mtag_leaf_slot(entry + i));
	}
	if (nr > 1)
		mtag_owner_mark_mixed(&folio->page);
}

/*
 * The current task zaps page tables of @mm next. The function that frees the swap entries is not
 * told whose they are.
 */
static void zap_begins(struct mm_struct *mm)
{
	struct mtag_space *s;

	rcu_read_lock();
	s = mtag_space_find(mm);
	if (!mtag_zap_begin(s ? mm : NULL))
		mtag_space_mark_dirty(s);
	rcu_read_unlock();
}

/* As mtag_swap_zap(), for the arguments of the hooked function; called by entry.S. */
void __noendbr mtag_swap_zap_args(const void *tlb, const struct vm_area_struct *vma)
{
	zap_begins(vma->vm_mm);
}

/* unmap_page_range(tlb, vma, …), __zap_vma_range() */
MTAG_HOOK_FUNC(mtag_swap_zap)
{
	mtag_swap_zap_args((void *)mtag_arg0(fregs), (struct vm_area_struct *)mtag_arg1(fregs));
}

/* madvise_free_pte_range(pmd, addr, end, walk) */
MTAG_HOOK_FUNC(mtag_swap_lazyfree)
{
	zap_begins(((struct mm_walk *)mtag_arg3(fregs))->mm);
}

/**
 * mtag_swap_freed() - swap entries are freed, perhaps those of a page table being zapped
 * @entry:	first swap entry
 * @nr:		number of consecutive entries
 * @parent_ip:	address of the caller that frees them
 *
 * Context: if a page table is being zapped, its lock.
 */
void __noendbr mtag_swap_freed(unsigned long entry, int nr, unsigned long parent_ip)
{
	enum mtag_caller caller = mtag_caller_of(parent_ip);
	struct mtag_space *s;
	struct mm_struct *mm;
	int i;

	if (caller == MTAG_BY_SHMEM)
		return;
	mm = mtag_zap_mm();
	s = mm ? mtag_space_find(mm) : NULL;
	if (!s || mtag_space_parked(s))
		return;
	if (caller != MTAG_BY_ZAP && caller != MTAG_BY_LAZYFREE) {
		/* It may free those of the page table, or others while the note is still there. */
		mtag_space_add_foreign(s);
		return;
	}
	for (i = 0; i < nr; i++)
		mtag_charge(s, mtag_swap_tag(entry + i), MTAG_SWAP, -1, MTAG_NO_ADDR);
}

/* As mtag_swap_freed(), for one entry; called by entry.S. */
void __noendbr mtag_swap_freed_one(unsigned long entry, unsigned long parent_ip)
{
	mtag_swap_freed(entry, 1, parent_ip);
}

/* free_swap_and_cache(entry) and its successors, which also take a number of entries */
MTAG_HOOK_FUNC(mtag_swap_free)
{
	mtag_swap_freed(mtag_arg0(fregs), mtag_swap_free_nr(fregs), parent_ip);
}

/* Context: no hook is in. */
void mtag_swap_exit(void)
{
	unsigned long index;
	void *page;

	xa_for_each(&pages, index, page) {
		free_page((unsigned long)page);
		atomic64_sub(PAGE_SIZE, &mtag_stat.memory);
	}
	xa_destroy(&pages);
	nr_holes = 0;
}
