// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the pages and swap entries in page tables into a shadow of the accounts.
 * In the end the shadow replaces the accounts, or is compared with them.
 */
#include <linux/slab.h>
#include "account.h"
#include "compat/compat.h"
#include "count.h"
#include "file.h"
#include "ksm.h"
#include "memory.h"
#include "migrate.h"
#include "mtag.h"
#include "note.h"
#include "owner.h"
#include "state.h"
#include "swap.h"
#include "visit.h"
#include "whose.h"

static void count_add(struct mtag_counter *c, u32 tag, enum mtag_kind kind, int pages)
{
	if (tag < c->w.nr_tags)
		c->w.shadow[tag][kind] += pages;
	else
		c->w.inexact = true;
	c->total[kind] += pages;
}

/*
 * Make pages untagged. In a new tree this is safe except for KSM pages: a
 * tracked process that shares the page but not the tree has it untagged as
 * well. In an old tree a relative may be charged for it.
 */
static void untag_pages(struct mtag_counter *c, const struct mtag_pte *e)
	__must_hold(&c->v.s->walk_lock)
{
	int i;

	lockdep_assert_held(&c->v.s->walk_lock);
	if (!c->fresh) {
		if (e->nr > 1 || mtag_page_mapcount(e->page) != 1 || !trylock_page(e->page))
			return;
		/* A relative may have it in swap. */
		if (!mtag_is_ksm(e->page) && !folio_test_swapcache(page_folio(e->page)))
			mtag_owner_change(e->page, MTAG_ID_UNTAGGED);
		/* unlock_page() wakes waiters and may sleep on PREEMPT_RT. */
		raw_spin_unlock(&c->v.s->walk_lock);
		unlock_page(e->page);
		raw_spin_lock(&c->v.s->walk_lock);
		return;
	}
	if (mtag_is_ksm(e->page))
		return;
	if (e->nr == HPAGE_PMD_NR) {
		mtag_owner_set_huge(e->page, MTAG_ID_UNTAGGED);
		return;
	}
	for (i = 0; i < e->nr; i++)
		if (!mtag_ksm_was_merged(e->page + i))
			mtag_owner_change(e->page + i, MTAG_ID_UNTAGGED);
}

static enum mtag_kind page_kind(const struct mtag_pte *e)
{
	return PageAnon(e->page) ? MTAG_ANON : mtag_file_kind(e->page);
}

/* Count one page under migration. It has a note, or gets one unless the walk only compares. */
static void count_moving(struct mtag_counter *c, const struct mtag_pte *e, int i)
{
	unsigned long addr = e->addr + i * PAGE_SIZE;
	enum mtag_kind kind = page_kind(e);
	struct mtag_space *s = c->v.s;
	u32 tag = MTAG_ID_UNTAGGED;

	if (mtag_migrate_seen(s, addr, &tag)) {
		count_add(c, tag, kind, 1);
		return;
	}
	if (kind != MTAG_ANON || !c->untag || !c->fresh)
		tag = mtag_whose(s, e, i);
	if (!c->compares && mtag_migrate_found(s, e->page + i, addr, tag, kind))
		count_add(c, tag, kind, 1);
	else
		c->v.migrating++;
}

static void count_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	struct mtag_counter *c = container_of(v, struct mtag_counter, v);
	enum mtag_kind kind;
	u32 tag;
	int i;

	if (e->moving) {
		for (i = 0; i < e->nr; i++)
			count_moving(c, e, i);
		return;
	}
	if (!e->page) {
		/* Other trees may have the slot of a merged page charged, to [ksm] as well. */
		if (c->untag && c->fresh && mtag_swap_tag(e->swap) != MTAG_ID_KSM)
			mtag_swap_set(e->swap, MTAG_ID_UNTAGGED);
		if (!mtag_whose_slot(v->s, e->swap, &tag))
			mtag_swap_set(e->swap, tag);
		count_add(c, tag, MTAG_SWAP, 1);
		return;
	}
	if (c->untag && PageAnon(e->page))
		untag_pages(c, e);
	kind = page_kind(e);
	for (i = 0; i < e->nr; i++)
		count_add(c, mtag_whose(v->s, e, i), kind, 1);
}

static void count_leave(struct mtag_visitor *v, unsigned long end)
{
	container_of(v, struct mtag_counter, v)->w.cursor = end;
}

/**
 * mtag_count_init() - prepare the count of a space
 * @c:		filled; the caller must kvfree() its shadow
 * @s:		space
 * @gfp:	for the shadow
 *
 * Return: 0 or -ENOMEM.
 */
int mtag_count_init(struct mtag_counter *c, struct mtag_space *s, gfp_t gfp)
{
	memset(c, 0, sizeof(*c));
	c->v.visit = count_visit;
	c->v.leave = count_leave;
	c->v.s = s;
	c->w.nr_tags = mtag_account_tags(s);
	mtag_migrate_prepare(s, gfp);
	c->w.shadow = mtag_memory_get(c->w.nr_tags * sizeof(*c->w.shadow), gfp | __GFP_ZERO);
	return c->w.shadow ? 0 : -ENOMEM;
}

/**
 * mtag_count_begin() - events change the shadow from now on
 * @c:	counter
 *
 * Context: no other walk of the space is under way.
 */
void mtag_count_begin(struct mtag_counter *c)
{
	struct mtag_space *s = c->v.s;

	raw_spin_lock(&s->walk_lock);
	s->walk = &c->w;
	mtag_space_change_slow_nolock(s, MTAG_SLOW_WALK, 0);
	mtag_note_check_begin(s);
	raw_spin_unlock(&s->walk_lock);
}

/* A stack may grow at its lower end while mmap_lock is held for reading. */
static unsigned long enter_vma(struct mtag_visitor *v, struct vm_area_struct *vma)
{
	unsigned long start;

	raw_spin_lock(&v->s->walk_lock);
	start = READ_ONCE(vma->vm_start);
	v->leave(v, start);
	raw_spin_unlock(&v->s->walk_lock);
	return start;
}

/**
 * mtag_count_mm() - count everything that an mm maps
 * @c:	counter
 * @mm:	mm of its space
 *
 * Context: mmap_lock held, for reading at least.
 */
void mtag_count_mm(struct mtag_counter *c, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);
	for_each_vma(vmi, vma)
		mtag_visit_vma(&c->v, vma, enter_vma(&c->v, vma), vma->vm_end);
}

/**
 * mtag_count_take() - set the accounts of a batch of tags to their counts
 * @c:		counter
 * @tag:	first tag of the batch
 *
 * Context: RCU or the walk_lock of a space that is walked.
 * Return: first tag of the next batch; 0 at the end.
 */
unsigned int mtag_count_take(struct mtag_counter *c, unsigned int tag)
{
	struct mtag_accounts *acc = rcu_dereference_check(c->v.s->accounts, true);
	unsigned int nr_tags = mtag_accounts_nr(acc);
	unsigned int end = min(nr_tags, tag + MTAG_COUNT_BATCH);
	static const s64 none[MTAG_KINDS];

	for (; tag < end; tag++)
		mtag_account_set(acc, tag, tag < c->w.nr_tags ? c->w.shadow[tag] : none);
	/* From here on, events change these accounts as well. */
	c->w.taken = end;
	return end < nr_tags ? end : 0;
}

/* Like mtag_count_take(), but compare: an event changes both sides. */
static unsigned int compare_batch(struct mtag_counter *c, unsigned int tag,
				  struct mtag_audit *audit)
{
	struct mtag_accounts *acc = rcu_dereference_check(c->v.s->accounts, true);
	unsigned int nr_tags = min(mtag_accounts_nr(acc), c->w.nr_tags);
	unsigned int end = min(nr_tags, tag + MTAG_COUNT_BATCH);
	struct mtag_sum sum;
	int kind;

	for (; tag < end; tag++) {
		mtag_account_fold(acc, tag, &sum);
		for (kind = 0; kind < MTAG_KINDS; kind++) {
			audit->drift += abs(sum.nr[kind] - c->w.shadow[tag][kind]);
			if (kind == MTAG_SWAP)
				continue;
			audit->accounted += sum.nr[kind];
			audit->walked += c->w.shadow[tag][kind];
		}
	}
	return end < nr_tags ? end : 0;
}

/**
 * mtag_count_end() - end the count that mtag_count_begin() began
 * @c:		counter
 * @audit:	filled, in pages; NULL: the counts become the accounts
 *
 * Context: may sleep unless in a hook.
 * Return: 0; -EAGAIN if the count is inexact, and then nothing is changed for good.
 */
int mtag_count_end(struct mtag_counter *c, struct mtag_audit *audit)
{
	struct mtag_space *s = c->v.s;
	unsigned int tag = 0;
	int ret;

	raw_spin_lock(&s->walk_lock);
	/* The accounts still include pages that were zapped under migration. */
	if (audit && !c->w.inexact)
		mtag_note_check_end(s, true);
	while (!c->w.inexact) {
		tag = audit ? compare_batch(c, tag, audit) : mtag_count_take(c, tag);
		if (!tag)
			break;
		raw_spin_unlock(&s->walk_lock);
		if (preemptible())
			cond_resched();
		raw_spin_lock(&s->walk_lock);
	}
	ret = c->w.inexact ? -EAGAIN : 0;
	if (!ret && audit)
		audit->migrating = c->v.migrating;
	/* No event reports pages that are zapped under migration: take the number from the walk. */
	if (!ret)
		atomic_set(&s->migration.uncharged, c->v.migrating);
	if (!ret && !audit) {
		mtag_note_check_end(s, false);
		s->live = true;
	}
	s->walk = NULL;
	if (s->live)
		mtag_space_change_slow_nolock(s, 0, MTAG_SLOW_WALK);
	raw_spin_unlock(&s->walk_lock);
	if (!ret && !audit)
		mtag_account_check_limits(s);
	return ret;
}
