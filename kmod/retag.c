// SPDX-License-Identifier: GPL-2.0
/*
 * Gives an address range of a process to a tag: pages mapped there from now on, resident file pages
 * and, on request, resident anonymous pages.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include "account.h"
#include "charge.h"
#include "compat/compat.h"
#include "file.h"
#include "ksm.h"
#include "migrate.h"
#include "mtag.h"
#include "owner.h"
#include "range.h"
#include "retag.h"
#include "space.h"
#include "state.h"
#include "visit.h"
#include "walk.h"

/* How often busy pages are tried, a tick apart */
#define MAX_PASSES	50

struct retagger {
	struct mtag_visitor v;
	struct mtag_walk w;
	bool present;
	bool missed;	/* a page was found whose place cannot be told */
	bool again;	/* a later pass, for anonymous pages that were busy */
	u64 moved, kept;
	/* The first and the end of the last anonymous page that was locked or under migration */
	unsigned long busy, busy_end;
};

/* Caller holds walk_lock. */
static void move_charge(struct retagger *r, u32 from, enum mtag_kind kind)
{
	lockdep_assert_held(&r->v.s->walk_lock);
	mtag_account_add(r->v.s, from, kind, -1);
	mtag_account_add(r->v.s, r->w.tag, kind, 1);
	r->moved += PAGE_SIZE;
}

static void keep_page(struct retagger *r)
{
	if (!r->again)
		r->kept += PAGE_SIZE;
}

static void keep_busy(struct retagger *r, unsigned long addr)
{
	keep_page(r);
	r->busy = min(r->busy, addr);
	r->busy_end = addr + PAGE_SIZE;
}

/* A frame that a relative also maps, or that KSM shares, keeps its owner. */
static void retag_anon(struct retagger *r, struct page *page, unsigned long addr)
	__must_hold(&r->v.s->walk_lock)
{
	u32 from;

	lockdep_assert_held(&r->v.s->walk_lock);
	if (!mtag_is_ksm(page) && mtag_owner_get(page) == r->w.tag)
		return;
	if (mtag_is_ksm(page) || mtag_page_mapcount(page) != 1) {
		keep_page(r);
		return;
	}
	if (!trylock_page(page)) {
		keep_busy(r, addr);
		return;
	}
	/* A relative may have a page of the swap cache in swap. */
	if (mtag_is_ksm(page) || mtag_page_mapcount(page) != 1 ||
	    folio_test_swapcache(page_folio(page))) {
		keep_page(r);
	} else {
		from = mtag_owner_get(page);
		if (from != r->w.tag) {
			move_charge(r, from, MTAG_ANON);
			mtag_owner_change(page, r->w.tag);
			/* The first pass has counted it. */
			if (r->again && r->kept)
				r->kept -= PAGE_SIZE;
		}
	}
	/* unlock_page() may sleep on PREEMPT_RT. The page-table lock still keeps events off. */
	raw_spin_unlock(&r->v.s->walk_lock);
	unlock_page(page);
	raw_spin_lock(&r->v.s->walk_lock);
}

/*
 * Move page @i of @e, a file's or a driver's. A driver's page is charged to the tag of the start of
 * its mapping.
 */
static void retag_file(struct retagger *r, const struct mtag_pte *e, int i)
{
	unsigned long addr, ignored;
	u32 from;

	if (!mtag_file_place(e->vma, e->page + i, &addr)) {
		addr = e->vma->vm_start;
		/* All pages of the mapping change their tag at once, or none does. */
		r->missed = true;
		if (addr < r->w.start)
			return;
	}
	from = mtag_range_tag(r->v.s, addr, &ignored);
	if (from != r->w.tag)
		move_charge(r, from, mtag_file_kind(e->page));
}

/* Is the page under migration that belongs at @addr charged to the new tag already? */
static bool is_given(const struct retagger *r, unsigned long addr)
{
	u32 tag;

	return mtag_migrate_seen(r->v.s, addr, &tag) && tag == r->w.tag;
}

static void retag_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	struct retagger *r = container_of(v, struct retagger, v);
	unsigned long addr;
	int i;

	if (!e->page)
		return;
	for (i = 0, addr = e->addr; i < e->nr; i++, addr += PAGE_SIZE) {
		if (!PageAnon(e->page)) {
			/* One under migration follows when it comes back. */
			if (!r->again && !e->moving)
				retag_file(r, e, i);
		} else if (r->present) {
			if (!e->moving)
				retag_anon(r, e->page + i, addr);
			else if (mtag_is_ksm(e->page + i) || !is_given(r, addr))
				keep_busy(r, addr);
		}
	}
}

static void retag_leave(struct mtag_visitor *v, unsigned long end)
{
	struct retagger *r = container_of(v, struct retagger, v);

	if (!r->again)
		r->w.cursor = end;
}

static void retag_set(struct mtag_space *s, struct mtag_walk *w)
{
	raw_spin_lock(&s->walk_lock);
	s->walk = w;
	/* Its full barrier pairs with event_tag() in file.c, and with mtag_hot_whole(). */
	mtag_space_change_slow_nolock(s, w ? MTAG_SLOW_WALK : 0, MTAG_SLOW_WALK);
	raw_spin_unlock(&s->walk_lock);
}

/* All is given, and new ranges may come: nothing more has been passed. */
static void retag_pause(struct mtag_space *s, struct mtag_walk *w)
{
	raw_spin_lock(&s->walk_lock);
	w->cursor = w->start;
	raw_spin_unlock(&s->walk_lock);
}

/*
 * A driver's pages, inserted or handed out at a fault, have no address of their own: their mappings
 * are retagged whole or not at all. Only the pages of regular files and block devices are in the
 * file's own mapping.
 */
static bool vma_placeless(const struct vm_area_struct *vma)
{
	umode_t mode = vma->vm_file ? file_inode(vma->vm_file)->i_mode : S_IFREG;

	return vma->vm_flags & VM_SPECIAL ||
	       !(S_ISREG(mode) || S_ISBLK(mode));
}

static int retag_check(struct mm_struct *mm, unsigned long addr, unsigned long end)
{
	VMA_ITERATOR(vmi, mm, addr);
	struct vm_area_struct *vma;

	for_each_vma_range(vmi, vma, end)
		if (mtag_file_unplaced(vma) ||
		    (vma_placeless(vma) && (vma->vm_start < addr || vma->vm_end > end)))
			return -EINVAL;
	return 0;
}

static void retag_pass(struct retagger *r, struct mm_struct *mm, unsigned long addr,
		       unsigned long end)
{
	VMA_ITERATOR(vmi, mm, addr);
	struct vm_area_struct *vma;

	r->busy = ULONG_MAX;
	r->busy_end = 0;
	for_each_vma_range(vmi, vma, end)
		mtag_visit_vma(&r->v, vma, max(addr, vma->vm_start), min(end, vma->vm_end));
	r->again = true;
}

/* Pages may have moved even if this fails. */
static int retag_walk(struct retagger *r, struct mm_struct *mm, unsigned long addr,
		      unsigned long end)
{
	struct mtag_space *s = r->v.s;
	int passes = 0, ret;

	retag_pass(r, mm, addr, end);
	/* Reclaim and migration hold a page for a moment; others could hold it for long. */
	while (r->busy_end && ++passes < MAX_PASSES && !fatal_signal_pending(current)) {
		schedule_timeout_uninterruptible(1);
		retag_pass(r, mm, r->busy, r->busy_end);
	}
	raw_spin_lock(&s->walk_lock);
	r->w.cursor = end;
	raw_spin_unlock(&s->walk_lock);
	ret = mtag_range_give(s, addr, end - 1, r->w.tag);
	if (!ret)
		mtag_space_change_slow(s, MTAG_SLOW_RANGE, 0);
	/* Such pages that came or went during the walk could not be told apart either. */
	if (ret || r->missed)
		mtag_space_mark_dirty(s);
	return ret;
}

/**
 * mtag_retag() - give a range of the current process to a tag
 * @s:		space of the current process
 * @addr:	page-aligned
 * @len:	bytes, whole pages, not 0
 * @tag:	id, with an account in @s
 * @flags:	MTAG_RANGE_*
 * @moved:	bytes of resident pages that changed their owner
 * @kept:	bytes of anonymous pages that were to change it and could not: shared with a
 *		relative, merged by KSM, or locked for longer than a moment
 *
 * Context: may sleep.
 * Return: 0; -EINVAL, also for part of a mapping whose pages have no address of their own; -ENOMEM,
 * -EINTR, -EAGAIN, -ESRCH; -ENOSPC for too many ranges.
 */
int mtag_retag(struct mtag_space *s, unsigned long addr, unsigned long len, u32 tag,
	       u32 flags, u64 *moved, u64 *kept)
{
	struct mm_struct *mm = current->mm;
	struct retagger r = {
		.v = { .visit = retag_visit, .leave = retag_leave, .s = s },
		.w = { .retag = true, .start = addr, .cursor = addr, .tag = tag },
		.present = flags & MTAG_RANGE_PRESENT,
	};
	int ret = 0;

	/* A forked child may not be counted yet, for lack of memory. */
	if (!READ_ONCE(s->live))
		ret = mtag_walk_repair(s);
	if (ret)
		return ret;
	ret = mutex_lock_killable(&s->tree->build_lock);
	if (ret)
		return ret;
	if (!s->live) {
		ret = -ESRCH;
		goto unlock_build;
	}
	/*
	 * No grace period is needed: when the walk gets the page-table lock of an address, each
	 * event there is over or sees the walk. Until then it is charged to the old tag anyway.
	 */
	retag_set(s, &r.w);
	ret = mtag_walk_lock(mm);
	if (ret)
		goto unset;
	ret = retag_check(mm, addr, addr + len) ?: mtag_range_reserve(s);
	if (!ret)
		ret = retag_walk(&r, mm, addr, addr + len);
	retag_pause(s, &r.w);
	if (mtag_walk_unlock(mm, addr, addr + len) || READ_ONCE(r.w.inexact))
		mtag_space_mark_dirty(s);
	retag_set(s, NULL);
	*moved = r.moved;
	*kept = r.kept;
	goto unlock_build;
unset:
	retag_set(s, NULL);
unlock_build:
	mutex_unlock(&s->tree->build_lock);
	return ret;
}
