// SPDX-License-Identifier: GPL-2.0
/*
 * Owners of KSM pages, one frame shared by several programs. A merged page keeps
 * its owner in its home, the tree of the space that it comes from. A space of
 * another tree has the page charged to [ksm]. The home is recorded when a page is
 * about to become a KSM page, which happens in place. So a charge and its release
 * always agree: nothing changes for spaces of the home, and others map it later.
 */
#include <linux/list.h>
#include <linux/pagemap.h>
#include <linux/xarray.h>
#include "compat/compat.h"
#include "hooked.h"
#include "ksm.h"
#include "leaf.h"
#include "mtag.h"
#include "owner.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "stray.h"
#include "swap.h"

/* pfn → id of the home tree, for KSM pages that come from tracked spaces */
static DEFINE_XARRAY_FLAGS(homes, XA_FLAGS_LOCK_IRQ);

/* The swap slot of a page in the swap cache, or 0. Context: as disown(). */
static unsigned long page_slot(const struct page *page)
{
	struct folio *folio = page_folio((struct page *)page);
	unsigned long first;

	if (!folio_test_swapcache(folio))
		return 0;
	/* It may just have been taken out. */
	first = page_private(&folio->page);
	return first ? first + (page - &folio->page) : 0;
}

/* Is the slot of @page [ksm]'s? Then all trees that had the merged page may have it charged. */
static bool slot_merged(const struct page *page)
{
	unsigned long slot = page_slot(page);

	return slot && mtag_swap_tag(slot) == MTAG_ID_KSM;
}

/*
 * Makes a page untagged, and the swap slot that it has, which relatives may have. Both stay so, as
 * mtag_ksm_slot_owner() says. The caller has all spaces recounted that may have one of them. A slot
 * that is [ksm]'s stays that, since any tree may have it; so the page becomes [ksm]'s, too.
 * Context: @page is locked, or will hardly be merged.
 */
static void disown(const struct page *page)
{
	unsigned long slot = page_slot(page);
	u32 tag = slot && mtag_swap_tag(slot) == MTAG_ID_KSM ? MTAG_ID_KSM : MTAG_ID_UNTAGGED;

	mtag_owner_change(page, tag);
	if (slot && tag == MTAG_ID_UNTAGGED)
		mtag_swap_set(slot, tag);
}

/*
 * The home cannot be recorded: make the page untagged for all spaces now. Then it makes no
 * difference to a recount, whenever it comes, when the page becomes a KSM page.
 */
static void home_lost(const struct page *page)
{
	disown(page);
	mtag_space_add_lost(NULL, 1);
	mtag_space_mark_all_dirty();
}

static void home_set(const struct page *page, u32 tree_id, gfp_t gfp)
{
	unsigned long pfn = page_to_pfn(page), flags;
	void *old;

	/* A probe may come with interrupts disabled. If @gfp may sleep they are enabled. */
	xa_lock_irqsave(&homes, flags);
	if (tree_id)
		old = __xa_store(&homes, pfn, xa_mk_value(tree_id), gfp);
	else
		old = __xa_erase(&homes, pfn);
	xa_unlock_irqrestore(&homes, flags);
	if (unlikely(xa_is_err(old)))
		home_lost(page);
}

static u32 home_of(unsigned long pfn)
{
	void *entry = xa_load(&homes, pfn);

	return entry ? xa_to_value(entry) : 0;
}

/*
 * Does a KSM page, small as all are, come from another tree than that of @s, which maps it?
 * Context: page-table lock of a mapping.
 */
static bool is_foreign(struct mtag_space *s, const struct page *page)
{
	return home_of(page_to_pfn(page)) != s->tree_id;
}

/* Migration: @to takes the place of @from. */
void mtag_ksm_copy(const struct page *to, const struct page *from)
{
	if (!mtag_lock_begin()) {
		home_lost(to);
		return;
	}
	home_set(to, home_of(page_to_pfn(from)), GFP_ATOMIC | __GFP_NOWARN);
	mtag_lock_end();
}

/*
 * @page comes from a process that is not tracked, but may be a stray: then its relatives
 * may also have the page charged, and the page will have no home.
 */
static void page_strayed(const struct mm_struct *mm, struct page *page)
{
	const struct mtag_tree *tree;

	if (!mtag_owner_get(page) || (mtag_page_mapcount(page) == 1 && !page_slot(page)))
		return;
	if (mtag_stray_concerns(mm, &tree)) {
		mtag_space_mark_tree_dirty(tree);
		disown(page);
		mtag_space_mark_tree_dirty(tree);
	} else if (page_slot(page)) {
		/* An untracked relative that has the slot makes it untagged when it is tracked. */
		disown(page);
	}
}

/*
 * @page comes from @s. If it has been read from swap, relatives may still have its slot, charged to
 * its owner. But once it is merged its slot is [ksm]'s, when it goes there again.
 */
static void was_in_swap(struct mtag_space *s, struct page *page)
{
	unsigned long slot = page_slot(page);

	if (!slot || !mtag_owner_get(page) || slot_merged(page))
		return;
	/* A fork of @s itself waits for mmap_lock, which ksmd holds. */
	if (data_race(list_is_singular(&s->tree->spaces)) && !mtag_stray_has(s->tree))
		return;
	mtag_space_mark_tree_dirty(s->tree);
	disown(page);
	mtag_space_mark_tree_dirty(s->tree);
}

/* try_to_merge_one_page(vma, page, kpage): without kpage, page becomes a KSM page */
MTAG_HOOK_FUNC(mtag_ksm_merge)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg0(fregs);
	struct page *page = (struct page *)mtag_arg1(fregs);
	struct mtag_space *s;
	bool locked, sleeps;
	gfp_t gfp;

	if (mtag_arg2(fregs) || mtag_is_ksm(page))
		return;
	s = mtag_space_lookup(vma->vm_mm);
	gfp = mtag_sleep_gfp(&sleeps);
	/* So that the page keeps its slot. KSM does not wait for the lock, either. */
	locked = gfp && trylock_page(page);
	if (s)
		was_in_swap(s, page);
	else
		page_strayed(vma->vm_mm, page);
	if (gfp)
		home_set(page, s ? s->tree_id : 0, gfp & ~__GFP_ACCOUNT);
	else
		home_lost(page);
	if (locked)
		unlock_page(page);
	if (sleeps)
		mtag_sleep_end();
	if (s)
		mtag_space_put(s);
}

/* Context: no hook is in. */
void mtag_ksm_exit(void)
{
	xa_destroy(&homes);
}

/**
 * mtag_ksm_owner() - the tag that @page is charged to in @s, if @s maps it
 * @s:		space
 * @page:	head, tail or single; anonymous
 *
 * Context: page-table lock of a mapping, or @page is locked.
 */
u32 mtag_ksm_owner(struct mtag_space *s, const struct page *page)
{
	u32 tag = mtag_owner_get(page);

	if (tag && mtag_is_ksm(page) && is_foreign(s, page))
		return MTAG_ID_KSM;
	return tag;
}

/**
 * mtag_ksm_owner_valid() - as mtag_ksm_owner(), but only an id that exists in the tree
 * @s:		space
 * @page:	the frame
 *
 * A frame may have a stale owner from an earlier use, by way of the swap cache.
 * That owner is dropped, because no space has the page charged to it.
 * Context: as mtag_ksm_owner().
 * Return: tag
 */
u32 mtag_ksm_owner_valid(struct mtag_space *s, const struct page *page)
{
	u32 tag = mtag_ksm_owner(s, page);

	if (likely(tag < READ_ONCE(s->tree->nr_tags)))
		return tag;
	mtag_owner_change(page, MTAG_ID_UNTAGGED);
	return MTAG_ID_UNTAGGED;
}

/**
 * mtag_ksm_slot_owner() - the owner of the swap slot that a page goes to
 * @s:		space that maps @page
 * @page:	anonymous
 *
 * All trees that have a merged page get its slot: it belongs to [ksm] there. What is untagged is so
 * in all of them, and stays it.
 * Context: as mtag_ksm_owner().
 */
u32 mtag_ksm_slot_owner(struct mtag_space *s, const struct page *page)
{
	u32 tag = mtag_ksm_owner_valid(s, page);

	return tag && mtag_is_ksm(page) ? MTAG_ID_KSM : tag;
}

/**
 * mtag_ksm_was_merged() - is a page back from swap that is [ksm]'s there, perhaps for many trees?
 * @page:	anonymous, not merged now
 *
 * If it becomes untagged, its slot does so when it goes there again, beneath those trees.
 * Context: as mtag_ksm_owner().
 */
bool mtag_ksm_was_merged(const struct page *page)
{
	return mtag_owner_get(page) == MTAG_ID_KSM && slot_merged(page);
}

/**
 * mtag_ksm_leaf() - the leaf of a page
 * @page:	head, tail or single; anonymous
 *
 * A page that KSM made has none, as it is everybody's from whose pages it was made.
 * Context: as mtag_ksm_owner().
 */
struct mtag_leaf mtag_ksm_leaf(const struct page *page)
{
	struct mtag_leaf leaf = mtag_leaf_get(page);

	if (leaf.stack && mtag_is_ksm(page))
		leaf.stack = MTAG_LEAF_NONE;
	return leaf;
}

/* A copy of the contents of @from has its leaf. Context: as mtag_ksm_owner(). */
void mtag_ksm_leaf_copy(const struct page *to, const struct page *from)
{
	mtag_leaf_set(to, 1, mtag_ksm_leaf(from));
}
