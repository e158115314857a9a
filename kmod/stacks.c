// SPDX-License-Identifier: GPL-2.0
/*
 * Begins to take the stacks of a process: from then on its page events leave the hot path. Its
 * children and later programs go on with it; they get that where their spaces are made.
 *
 * What is kept for stacks is made for the first such process, and goes when the hooks go, or with
 * the last reader after that.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include "bell.h"
#include "image.h"
#include "leaf.h"
#include "mtag.h"
#include "space.h"
#include "stack.h"
#include "stacks.h"
#include "state.h"
#include "take.h"
#include "text.h"
#include "touched.h"
#include "user.h"
#include "visit.h"
#include "walk.h"

/* ---- what is kept ---- */

static DEFINE_MUTEX(keep_lock);		/* protects the next two */
static unsigned int holders;		/* of the table of stacks: the hooks, and readers */
static bool taking;			/* hooks may take stacks: they are a holder */

static void tables_end(void)
{
	if (holders)
		return;
	mtag_stack_end();
	mtag_image_end();
	mtag_user_end();
}

/* Context: keep_lock. */
static int taking_begin(void)
{
	int ret = 0;

	lockdep_assert_held(&keep_lock);
	if (!holders) {
		mtag_image_begin();
		ret = mtag_stack_begin();
	}
	if (!ret)
		ret = mtag_take_begin();
	if (ret) {
		tables_end();
		return ret;
	}
	holders++;
	taking = true;
	return 0;
}

/* Context: keep_lock. */
static void taking_end(void)
{
	lockdep_assert_held(&keep_lock);
	mtag_leaf_end();
	mtag_take_end();
	taking = false;
	holders--;
	tables_end();
}

/* Makes sure that there is all that hooks need. Goes with the hooks, see mtag_stacks_idle(). */
static int keep_needed(void)
{
	bool had;
	int ret = 0;

	/* Making the table may take its time. */
	if (mutex_lock_killable(&keep_lock))
		return -EINTR;
	had = mtag_leaf_kept;
	if (!taking)
		ret = taking_begin();
	if (!ret)
		ret = mtag_leaf_begin();
	/* If only memory plugged in lately lacks leaves, go on with those that exist. */
	if (ret && had)
		ret = 0;
	else if (ret && taking)
		taking_end();
	mutex_unlock(&keep_lock);
	return ret;
}

/**
 * mtag_stacks_hold() - keep the table of stacks, even if the hooks go
 *
 * Context: may sleep.
 * Return: false if there is none; otherwise the caller owes mtag_stacks_drop().
 */
bool mtag_stacks_hold(void)
{
	bool held;

	mutex_lock(&keep_lock);
	held = holders;
	holders += held;
	mutex_unlock(&keep_lock);
	return held;
}

/* Context: may sleep. */
void mtag_stacks_drop(void)
{
	mutex_lock(&keep_lock);
	holders--;
	tables_end();
	mutex_unlock(&keep_lock);
}

/* No process is tracked. Context: no hook is in; may sleep. */
void mtag_stacks_idle(void)
{
	mutex_lock(&keep_lock);
	if (taking)
		taking_end();
	mutex_unlock(&keep_lock);
}

/* ---- a process begins ---- */

/*
 * The pages that the process has now count as touched before stacks were taken, whatever an earlier
 * use left in their leaves. A page that is in no page table at the moment keeps its old leaf;
 * mtag_touched.own exposes that later.
 */
static void forget_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	struct mtag_leaf before = { .stack = MTAG_LEAF_NONE, .born = mtag_leaf_now() };

	if (!e->page)
		mtag_leaf_set_slot(e->swap, before);
	else if (PageAnon(e->page))
		mtag_leaf_set(e->page, e->nr, before);
}

/* Context: mmap_lock for reading, so that nothing is forked meanwhile. */
static void forget_stacks(struct mtag_space *s, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct mtag_visitor v = { .visit = forget_visit, .s = s };
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);
	for_each_vma(vmi, vma) {
		mtag_visit_vma(&v, vma, READ_ONCE(vma->vm_start), vma->vm_end);
		cond_resched();
	}
}

/* Context: build_lock, and mmap_lock for reading. */
static int begin_stacks(struct mtag_space *s, struct mm_struct *mm, const struct cred *cred)
{
	struct mtag_touched *touched;
	int ret;

	lockdep_assert_held(&s->tree->build_lock);
	lockdep_assert_held(&mm->mmap_lock);
	if (!s->stacks.touched) {
		touched = mtag_touched_alloc(mtag_user_of(cred, MTAG_GFP), NULL, MTAG_GFP);
		if (!touched)
			return -ENOMEM;
		/* Pairs with reuse_tag(). */
		smp_store_release(&s->stacks.touched, touched);
	}
	ret = mtag_text_read(s, mm, cred->euid);
	if (ret)
		return ret;
	mtag_space_change_slow(s, MTAG_SLOW_STACKS, 0);
	/*
	 * An event that did not see the bit holds the lock of its page table, and so is over when
	 * the walk comes there.
	 */
	forget_stacks(s, mm);
	return 0;
}

/* Context: build_lock. */
static int start_stacks(struct mtag_space *s, struct mm_struct *mm, const struct cred *cred,
			unsigned int one_in, struct mtag_bell **bell)
{
	int ret = 0;

	lockdep_assert_held(&s->tree->build_lock);
	if (!s->live || READ_ONCE(s->mm) != mm)
		return -ESRCH;
	ret = keep_needed();
	if (ret)
		return ret;
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	/* What was counted before it was untracked counts on. */
	if (s->stacks.touched && s->stacks.one_in != one_in)
		WRITE_ONCE(s->stacks.one_in_varied, true);
	WRITE_ONCE(s->stacks.one_in, one_in);
	mtag_bell_set(s, *bell);
	*bell = NULL;
	if (!mtag_space_stacks(s))
		ret = begin_stacks(s, mm, cred);
	mmap_read_unlock(mm);
	return ret;
}

/**
 * mtag_stacks_start() - take the stacks of a process from here on
 * @s:		its space
 * @mm:		its mm; reference
 * @cred:	of the process: it is walked by root's unwind tables and by those of its user
 * @one_in:	of so many first touches one is sampled; not 0
 * @bell:	rung for each file that becomes mapped executable; takes the caller's reference;
 *		NULL: none
 *
 * If they are taken already, only @one_in and @bell change.
 * Context: may sleep.
 * Return: 0; -ESRCH if the process has ended or is no longer tracked; -ENOMEM; -EINTR; -EAGAIN.
 */
int mtag_stacks_start(struct mtag_space *s, struct mm_struct *mm, const struct cred *cred,
		      unsigned int one_in, struct mtag_bell *bell)
{
	int ret = 0;

	/* A forked child may not be counted yet, for lack of memory. */
	if (!READ_ONCE(s->live))
		ret = mtag_walk_repair(s);
	if (!ret)
		ret = mutex_lock_killable(&s->tree->build_lock) ? -EINTR : 0;
	if (!ret) {
		ret = start_stacks(s, mm, cred, one_in, &bell);
		mutex_unlock(&s->tree->build_lock);
	}
	mtag_bell_put(bell);
	return ret;
}
