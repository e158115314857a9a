// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the tags of ended threads that may be used again, from a worker.
 *
 * A tag is free if, twice, with a grace period in between, no space of its tree has a page, a
 * swapped page or a range of it. In between every page on its way from one counter to another has
 * arrived. A tag whose number a program was told is never used again: it may be stored anywhere.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/mmap_lock.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "account.h"
#include "limit.h"
#include "mtag.h"
#include "range.h"
#include "record.h"
#include "sleep.h"
#include "state.h"
#include "stray.h"
#include "sweep.h"
#include "tree.h"

#define SWEEP_LEAST	32	/* ended threads before the first sweep */
#define SWEEP_TRIES	20	/* how often a tree is looked at that is busy, SWEEP_WAIT apart */
#define SWEEP_WAIT	5	/* ms */

/* ---- marks of tags whose threads have ended ---- */

/* Return: false if @tag is marked already. Context: any but interrupts. */
static bool mark_ended(struct mtag_tree *tree, u32 tag)
{
	bool first;

	/* Several may say so at once, and each tag counts once. */
	xa_lock(&tree->nodes);
	first = !xa_get_mark(&tree->nodes, tag, MTAG_NODE_ENDED);
	if (first) {
		__xa_set_mark(&tree->nodes, tag, MTAG_NODE_ENDED);
		atomic_inc(&tree->ended);
	}
	xa_unlock(&tree->nodes);
	return first;
}

/* Takes away the mark that @tag has ended. Return: false if it has none. Context: xa_lock. */
bool mtag_sweep_unmark(struct mtag_tree *tree, u32 tag)
{
	lockdep_assert_held(&tree->nodes.xa_lock);
	if (!xa_get_mark(&tree->nodes, tag, MTAG_NODE_ENDED))
		return false;
	__xa_clear_mark(&tree->nodes, tag, MTAG_NODE_ENDED);
	atomic_dec(&tree->ended);
	return true;
}

/* ---- sweeping out tags of threads that have ended ---- */

struct sweep {
	struct work_struct work;
	struct mtag_tree *tree;
	unsigned int nr_tags;
	unsigned long *idle;	/* bitmap of the tags that nothing was found for */
	bool blind;		/* a space could not be looked at: the next sweep may find more */
};

static void in_use(void *data, u32 tag)
{
	struct sweep *w = data;

	if (tag < w->nr_tags)
		__clear_bit(tag, w->idle);
}

/*
 * Finds the tags that are in use in @s. Context: tree->lock and mmap_lock for reading: no fork, no
 * collapse and no change of a range is under way.
 */
static void sweep_space(struct sweep *w, struct mtag_space *s)
{
	struct mtag_accounts *acc;
	unsigned long tag;

	lockdep_assert_held(&s->tree->lock);
	lockdep_assert_held(&s->grabbed->mmap_lock);
	acc = rcu_dereference_protected(s->accounts, lockdep_is_held(&s->tree->lock));
	for_each_set_bit(tag, w->idle, w->nr_tags) {
		if (tag < acc->nr_tags &&
		    (mtag_account_owns(acc, tag) || mtag_limit_watched(s, tag)))
			in_use(w, tag);
		cond_resched();
	}
	mtag_range_uses(s, in_use, w);
	in_use(w, READ_ONCE(s->default_tag));
	in_use(w, s->base_tag);
	mtag_record_uses(s, in_use, w);
}

/* False if the numbers of @s say nothing about its tags now. Context: tree->lock. */
static bool sweep_try(struct sweep *w, struct mtag_space *s)
{
	struct mm_struct *mm = READ_ONCE(s->grabbed);

	lockdep_assert_held(&s->tree->lock);
	if (!mm || !READ_ONCE(s->live) || mtag_space_wrong(s) || READ_ONCE(s->birth.forking) ||
	    atomic_read(&s->migration.uncharged) || !mmap_read_trylock(mm))
		return false;
	sweep_space(w, s);
	mmap_read_unlock(mm);
	return true;
}

/* False if a space could not be looked at. Context: tree->lock, so that no space joins. */
static bool sweep_spaces(struct sweep *w)
{
	struct mtag_space *s;

	lockdep_assert_held(&w->tree->lock);
	/* What parked spaces and strays have is not counted. */
	if (READ_ONCE(w->tree->parked) || mtag_stray_has(w->tree)) {
		bitmap_zero(w->idle, w->nr_tags);
		return true;
	}
	list_for_each_entry(s, &w->tree->spaces, sibling) {
		if (!sweep_try(w, s))
			return false;
		cond_resched();
	}
	return true;
}

/*
 * Examines all spaces under a single hold of tree->lock, and returns with it held. A forking server
 * is nearly always busy, so retry; otherwise its tags would grow without bound. Tags that an
 * unfinished attempt found in use stay marked as used, which is safe.
 */
static void sweep_look(struct sweep *w)
{
	int i;

	for (i = 0; i < SWEEP_TRIES; i++) {
		if (i)
			msleep(SWEEP_WAIT);
		mutex_lock(&w->tree->lock);
		if (sweep_spaces(w))
			return;
		if (i < SWEEP_TRIES - 1)
			mutex_unlock(&w->tree->lock);
	}
	bitmap_zero(w->idle, w->nr_tags);
	w->blind = true;
}

static void sweep_begin(struct sweep *w)
{
	struct mtag_node *node;
	unsigned long tag;

	mutex_lock(&w->tree->lock);
	w->nr_tags = w->tree->nr_tags;
	w->idle = bitmap_zalloc(w->nr_tags, GFP_KERNEL);
	if (w->idle) {
		xa_for_each_marked(&w->tree->nodes, tag, node, MTAG_NODE_ENDED) {
			if (node->kept)
				continue;
			__set_bit(tag, w->idle);
			xa_set_mark(&w->tree->nodes, tag, MTAG_NODE_SWEPT);
		}
	}
	mutex_unlock(&w->tree->lock);
	if (w->idle) {
		sweep_look(w);
		mutex_unlock(&w->tree->lock);
	}
}

static void sweep_end(struct sweep *w)
{
	struct mtag_tree *tree = w->tree;
	unsigned long tag;
	int left;

	sweep_look(w);
	for_each_set_bit(tag, w->idle, w->nr_tags) {
		xa_lock(&tree->nodes);
		/* Another thread of that name and TID may have had it, or have it by now. */
		if (xa_get_mark(&tree->nodes, tag, MTAG_NODE_SWEPT) &&
		    mtag_sweep_unmark(tree, tag))
			__xa_set_mark(&tree->nodes, tag, MTAG_NODE_FREE);
		xa_unlock(&tree->nodes);
	}
	/*
	 * Some may be in use for long: the next sweep must be worth its while. If this one came
	 * at a bad moment, as in a fork, the next may find more: a server may fork all the time.
	 */
	left = atomic_read(&tree->ended);
	WRITE_ONCE(tree->sweep_at, w->blind ? left : 2 * left);
	mutex_unlock(&tree->lock);
}

static void sweep_run(struct work_struct *work)
{
	struct sweep *w = container_of(work, struct sweep, work);

	sweep_begin(w);
	if (w->idle) {
		synchronize_rcu();
		sweep_end(w);
	}
	atomic_set_release(&w->tree->sweeping, 0);
	bitmap_free(w->idle);
	mtag_tree_put(w->tree);
	kfree(w);
}

static void sweep_queue(struct mtag_tree *tree)
{
	struct sweep *w;
	bool sleeps;
	gfp_t gfp;

	if (atomic_xchg(&tree->sweeping, 1))
		return;
	gfp = mtag_sleep_gfp(&sleeps);
	w = gfp ? kzalloc(sizeof(*w), gfp) : NULL;
	if (sleeps)
		mtag_sleep_end();
	if (!w) {
		atomic_set(&tree->sweeping, 0);
		return;
	}
	w->tree = mtag_tree_get(tree);
	INIT_WORK(&w->work, sweep_run);
	queue_work(mtag_wq, &w->work);
}

/**
 * mtag_sweep_ended() - the thread that a tag was made for has ended
 * @s:		space of the thread
 * @tag:	id
 *
 * Context: any but interrupts.
 */
void mtag_sweep_ended(struct mtag_space *s, u32 tag)
{
	struct mtag_tree *tree = s->tree;

	if (!mtag_lock_begin())
		return;
	if (mark_ended(tree, tag) &&
	    atomic_read(&tree->ended) >= READ_ONCE(tree->sweep_at) + SWEEP_LEAST)
		sweep_queue(tree);
	mtag_lock_end();
}
