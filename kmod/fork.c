// SPDX-License-Identifier: GPL-2.0
/*
 * Creates the space of a forked child and counts it. A child has the pages of its parent, so its
 * page tables usually need not be walked.
 */
#include <linux/slab.h>
#include "account.h"
#include "compat/compat.h"
#include "count.h"
#include "fork.h"
#include "heap.h"
#include "hooked.h"
#include "migrate.h"
#include "mtag.h"
#include "range.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "stray.h"
#include "text.h"
#include "thread_start.h"
#include "touched.h"
#include "tree.h"
#include "visit.h"
#include "walk.h"

/*
 * Count the mappings of files, with the anonymous pages in them, of which fork copies page tables.
 * Had it copied others, the sums would differ from the kernel's.
 */
static void count_files(struct mtag_counter *c, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	for_each_vma(vmi, vma)
		if (!vma_is_anonymous(vma) && mtag_fork_copies(vma))
			mtag_visit_vma(&c->v, vma, vma->vm_start, vma->vm_end);
}

/*
 * Copy and add up anonymous memory and swap of a batch of the parent's tags, from @tag on. Return:
 * as mtag_count_take().
 */
static unsigned int copy_batch(struct mtag_counter *c, struct mtag_space *parent, unsigned int tag)
{
	struct mtag_accounts *acc;
	struct mtag_sum sum;
	unsigned int nr_tags, end;

	rcu_read_lock();
	acc = rcu_dereference(parent->accounts);
	nr_tags = min(mtag_accounts_nr(acc), c->w.nr_tags);
	for (end = min(nr_tags, tag + MTAG_COUNT_BATCH); tag < end; tag++) {
		mtag_account_fold(acc, tag, &sum);
		c->total[MTAG_ANON] += sum.nr[MTAG_ANON];
		c->total[MTAG_SWAP] += sum.nr[MTAG_SWAP];
		c->w.shadow[tag][MTAG_ANON] = sum.nr[MTAG_ANON];
		c->w.shadow[tag][MTAG_SWAP] = sum.nr[MTAG_SWAP];
	}
	tag = end < nr_tags ? end : 0;
	rcu_read_unlock();
	return tag;
}

/*
 * Give the child the parent's numbers. Nothing holds either process still:
 * is_copy() checks afterwards whether the numbers changed.
 */
static void copy_parent(struct mtag_counter *c, struct mtag_space *parent)
{
	unsigned int tag = 0;

	c->total[MTAG_ANON] = 0;
	c->total[MTAG_SWAP] = 0;
	do {
		tag = copy_batch(c, parent, tag);
		if (preemptible())
			cond_resched();
	} while (tag);
	do {
		rcu_read_lock();
		tag = mtag_count_take(c, tag);
		rcu_read_unlock();
		if (preemptible())
			cond_resched();
	} while (tag);
}

/*
 * The copied numbers are right if their sums equal the kernel's counters, and no page came or went.
 * Caller holds the walk_lock of both.
 */
static bool is_copy(const struct mtag_counter *c, struct mtag_space *parent, struct mm_struct *mm)
{
	const struct mtag_space *child = c->v.s;

	lockdep_assert_held(&parent->walk_lock);
	lockdep_assert_held(&child->walk_lock);
	return !c->w.inexact && !parent->fork.events && !child->fork.events && parent->live &&
	       !mtag_space_wrong(parent) && !atomic_read(&parent->migration.uncharged) &&
	       !atomic_read(&parent->migration.charged) &&
	       READ_ONCE(parent->tree->nr_tags) <= c->w.nr_tags &&
	       c->total[MTAG_ANON] == mtag_compat_rss_idle(mm, MM_ANONPAGES) &&
	       c->total[MTAG_SWAP] == mtag_compat_rss_idle(mm, MM_SWAPENTS) &&
	       c->total[MTAG_FILE] == mtag_compat_rss_idle(mm, MM_FILEPAGES) &&
	       c->total[MTAG_SHMEM] == mtag_compat_rss_idle(mm, MM_SHMEMPAGES);
}

static bool fork_by_sums(struct mtag_counter *c, struct mtag_space *parent, struct mm_struct *mm)
{
	struct mtag_space *child = c->v.s;
	bool equal;

	count_files(c, mm);
	copy_parent(c, parent);
	raw_spin_lock(&parent->walk_lock);
	raw_spin_lock_nested(&child->walk_lock, SINGLE_DEPTH_NESTING);
	equal = is_copy(c, parent, mm);
	if (equal) {
		atomic_set(&child->migration.uncharged, c->v.migrating);
		child->live = true;
		mtag_space_change_slow_nolock(child, 0, MTAG_SLOW_WALK);
	}
	raw_spin_unlock(&child->walk_lock);
	raw_spin_unlock(&parent->walk_lock);
	return equal;
}

/* A walk may be inexact if KSM pages come and go meanwhile: retry. */
static int fork_by_walk(struct mtag_space *parent, struct mtag_space *child, struct mm_struct *mm,
			gfp_t gfp, int *migrating)
{
	struct mtag_counter c;
	int ret, i;

	mtag_migrate_prepare(parent, gfp);
	for (i = 0; i < MTAG_WALK_ATTEMPTS; i++) {
		ret = mtag_count_init(&c, child, gfp);
		if (ret)
			break;
		mtag_count_begin(&c);
		mtag_count_mm(&c, mm);
		ret = mtag_count_end(&c, NULL);
		*migrating = c.v.migrating;
		kvfree(c.w.shadow);
		if (ret != -EAGAIN)
			break;
	}
	return ret;
}

/**
 * fork_count() - count a forked child before it runs
 * @parent:	space
 * @child:	space, new
 * @mm:		mm of @child, copied
 * @gfp:	for the shadow
 *
 * The child has the anonymous pages of its parent if no page came or went in
 * either meanwhile, the kernel's counters of the child equal the parent's sums,
 * and no page is under migration: then the parent's counters are copied.
 * Otherwise the child's page tables are walked.
 *
 * Context: both mmap_locks held for writing. May sleep if @gfp allows it.
 * Return: 0, or an error if the child was not counted.
 */
static int fork_count(struct mtag_space *parent, struct mtag_space *child, struct mm_struct *mm,
		      gfp_t gfp)
{
	int ret, migrating = atomic_read(&parent->migration.uncharged), left = migrating;
	struct mtag_counter c;

	lockdep_assert_held_write(&mm->mmap_lock);
	mtag_migrate_expire(parent);

	if (!READ_ONCE(parent->live))
		return -EAGAIN;
	ret = mtag_count_init(&c, child, gfp);
	if (ret)
		return ret;
	ret = fork_by_sums(&c, parent, mm) ? 0 : fork_by_walk(parent, child, mm, gfp, &left);
	kvfree(c.w.shadow);
	/*
	 * Some pages may have been zapped instead of restored. If the child has none under
	 * migration, neither noted by its walk nor left without a note, the parent has none,
	 * either, unless others went since.
	 */
	if (!left && !atomic_read(&child->migration.charged))
		atomic_cmpxchg(&parent->migration.uncharged, migrating, 0);
	return ret;
}

/* ---- hooks ---- */

/* Lets a forked child see the tags that its parent sees. @child is not published yet. */
static void inherit_names(struct mtag_space *child, struct mtag_space *parent)
{
	struct mtag_accounts *acc;
	struct mtag_node *node;
	u32 tag;

	child->birth.uid = current_euid();
	rcu_read_lock();
	acc = rcu_dereference(child->accounts);
	mtag_account_inherit(acc, rcu_dereference(parent->accounts));
	child->birth.names_seen = READ_ONCE(parent->tree->nr_named);
	/* The parent has changed its user since it was forked. */
	if (!uid_eq(parent->birth.uid, child->birth.uid)) {
		for (tag = MTAG_ID_FIRST; tag < acc->nr_tags; tag++) {
			node = mtag_tree_node(parent->tree, tag);
			if (node && node->born < parent->birth.names_seen &&
			    uid_eq(node->uid, parent->birth.uid))
				mtag_account_know(acc, tag);
		}
	}
	rcu_read_unlock();
}

static void fork_space(struct mtag_space *parent, struct mm_struct *mm, gfp_t gfp)
{
	struct mtag_space *child = gfp ? mtag_space_alloc(parent->tree, gfp) : NULL;
	int ret;

	if (!child) {
		mtag_space_unborn(parent, -ENOMEM);
		mtag_stray_add(mm, parent->tree);
		return;
	}
	child->birth.forking = true;
	/*
	 * The parent's first walk has yet to untag pages that the child shares. It needs the
	 * mmap_lock that this fork holds.
	 */
	child->birth.untag = !READ_ONCE(parent->live) && READ_ONCE(parent->birth.untag);
	child->birth.attached = child->birth.untag;
	inherit_names(child, parent);
	child->default_tag = READ_ONCE(parent->default_tag);
	child->naming = READ_ONCE(parent->naming);
	mtag_heap_inherit(child, parent);
	child->slow |= READ_ONCE(parent->slow) & (MTAG_SLOW_PARKED | MTAG_SLOW_RANGE);
	/* Without memory the child's stacks are not taken. */
	if (mtag_space_stacks(parent) && mtag_text_fork(child, parent, gfp))
		mtag_touched_lost(NULL);
	ret = mtag_range_fork(child, parent, gfp);
	if (!ret)
		ret = mtag_space_publish(child, mm, gfp);
	if (ret) {
		mtag_space_unborn(parent, ret);
		mtag_stray_add(mm, parent->tree);
	}
	mtag_space_put(child);
}

/* uprobe_dup_mmap(oldmm, mm): a fork begins; mmap_lock of the parent is held for writing */
MTAG_HOOK_FUNC(mtag_fork_begin)
{
	struct mm_struct *oldmm = (struct mm_struct *)mtag_arg0(fregs);
	struct mm_struct *mm = (struct mm_struct *)mtag_arg1(fregs);
	struct mtag_space *parent = mtag_space_lookup(oldmm);
	bool sleeps;
	gfp_t gfp;

	lockdep_assert_held_write(&oldmm->mmap_lock);
	if (!parent) {
		mtag_stray_fork(oldmm, mm);
		return;
	}
	gfp = mtag_sleep_gfp(&sleeps);
	fork_space(parent, mm, gfp);
	if (sleeps)
		mtag_sleep_end();
	/* If it was untracked meanwhile, that may not have seen this relative. */
	if (!READ_ONCE(parent->mm))
		mtag_stray_add(oldmm, parent->tree);
	raw_spin_lock(&parent->walk_lock);
	parent->fork.task = current;
	parent->fork.events = 0;
	mtag_space_change_slow_nolock(parent, MTAG_SLOW_FORK, 0);
	raw_spin_unlock(&parent->walk_lock);
	mtag_space_put(parent);
}

static void fork_copied(struct mtag_space *parent, struct mtag_space *child, struct mm_struct *mm)
{
	bool sleeps;
	gfp_t gfp = mtag_sleep_gfp(&sleeps);

	mtag_thread_start_fork(parent, child);
	/*
	 * A child that cannot be counted now is counted by its first reader. Where nothing may be
	 * allocated, page tables cannot be locked either.
	 */
	if (!gfp || fork_count(parent, child, mm, gfp))
		mtag_space_mark_dirty(child);
	if (sleeps)
		mtag_sleep_end();
}

/* ldt_dup_context(oldmm, mm): the copy is complete; both mmap_locks are held for writing */
MTAG_HOOK_FUNC(mtag_fork_copied)
{
	struct mm_struct *oldmm = (struct mm_struct *)mtag_arg0(fregs);
	struct mm_struct *mm = (struct mm_struct *)mtag_arg1(fregs);
	struct mtag_space *parent = mtag_space_lookup(oldmm);
	struct mtag_space *child = mtag_space_lookup(mm);

	lockdep_assert_held_write(&oldmm->mmap_lock);
	lockdep_assert_held_write(&mm->mmap_lock);
	if (child && !mtag_space_parked(child)) {
		/* The parent may have been untracked meanwhile, and tracked in another tree. */
		if (parent && parent->tree == child->tree)
			fork_copied(parent, child, mm);
		else
			mtag_space_mark_dirty(child);
	}
	if (child)
		mtag_space_put(child);
	if (parent)
		mtag_space_put(parent);
}

/* uprobe_end_dup_mmap(): the fork has ended, successfully or not */
MTAG_HOOK_FUNC(mtag_fork_end)
{
	struct mtag_space *s = mtag_space_mine();

	if (!s)
		return;
	raw_spin_lock(&s->walk_lock);
	/* Another thread's fork may have begun meanwhile. */
	if (s->fork.task == current) {
		s->fork.task = NULL;
		mtag_space_change_slow_nolock(s, 0, MTAG_SLOW_FORK);
	}
	raw_spin_unlock(&s->walk_lock);
	mtag_space_put(s);
}
