// SPDX-License-Identifier: GPL-2.0
/*
 * The ends of spaces: their counters are checked, and what is kept for them goes.
 */
#include <linux/sched/mm.h>
#include "account.h"
#include "compat/compat.h"
#include "end.h"
#include "mtag.h"
#include "note.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "thread.h"
#include "tree.h"

static DEFINE_RAW_SPINLOCK(dead_lock);	/* dead_spaces */
static LIST_HEAD(dead_spaces);

static void end_work(struct work_struct *work);
static DECLARE_WORK(ender, end_work);

/* Queued when nothing is tracked any more; mtag_track_init() says what it does. */
struct delayed_work mtag_end_linger_work;

/* Nothing is tracked: the hooks may go in a while. Context: any but NMI. */
void mtag_end_linger(void)
{
	if (!mtag_track_all)
		mod_delayed_work(mtag_system_wq, &mtag_end_linger_work,
				 msecs_to_jiffies(mtag_linger_ms));
}

/* One process less is tracked. Context: any but NMI. */
void mtag_end_retire(void)
{
	if (atomic_dec_and_test(&mtag_stat.tracked))
		mtag_end_linger();
}

/* What is left of a space that is hashed no more. Context: may sleep. */
void mtag_end_space(struct mtag_space *s)
{
	mtag_tree_leave(s);
	mtag_thread_end_space(s);
	mtag_note_forget(s, false);
	mmdrop(s->grabbed);
	if (!mtag_space_parked(s))
		mtag_end_retire();
	mtag_space_put(s);
}

/* I5: when a space dies, every counter of it is 0. */
static void check_ended(struct mtag_space *s)
{
	u64 left;

	if (mtag_space_parked(s))
		return;
	mtag_note_forget(s, true);
	left = mtag_account_residue(rcu_dereference_protected(s->accounts, true));
	atomic64_inc(&mtag_stat.ended);
	/*
	 * One that was never counted may have what is left of an attempt. That one of a fork which
	 * came to nothing was not counted, nobody can have missed.
	 */
	if (!READ_ONCE(s->dirty) || (s->live && !left))
		atomic64_add(left, &mtag_stat.drift);
	else if (!s->birth.unborn)
		atomic64_inc(&mtag_stat.dirty_ended);
}

static void end_work(struct work_struct *work)
{
	struct mtag_space *s;
	unsigned long flags;
	LIST_HEAD(dead);

	raw_spin_lock_irqsave(&dead_lock, flags);
	list_splice_init(&dead_spaces, &dead);
	raw_spin_unlock_irqrestore(&dead_lock, flags);
	while (!list_empty(&dead)) {
		s = list_first_entry(&dead, struct mtag_space, dead);
		list_del(&s->dead);
		check_ended(s);
		mtag_end_space(s);
		cond_resched();
	}
}

/**
 * mtag_end_mm() - all pages of @mm are gone, and nobody will run in it
 * @mm:		only compared; NULL: nothing is done
 *
 * Context: any.
 */
void mtag_end_mm(struct mm_struct *mm)
{
	struct mtag_space *s;
	unsigned long flags;

	rcu_read_lock();
	s = mm ? mtag_space_find(mm) : NULL;
	if (s && mtag_space_unhash(s)) {
		raw_spin_lock_irqsave(&dead_lock, flags);
		list_add_tail(&s->dead, &dead_spaces);
		raw_spin_unlock_irqrestore(&dead_lock, flags);
		queue_work(mtag_wq, &ender);
	}
	rcu_read_unlock();
}

/**
 * mtag_end_reap() - end the spaces whose end a hook may have missed
 *
 * One whose mm is going just now ends too early by this, as it may: the caller has found that
 * events were missed, and has made all spaces dirty.
 * Context: any but hard interrupts.
 */
void mtag_end_reap(void)
{
	struct mtag_space *s;
	int i;

	rcu_read_lock();
	for (i = 0; i < ARRAY_SIZE(mtag_space_hash); i++)
		hlist_for_each_entry_rcu(s, &mtag_space_hash[i], node)
			if (mtag_space_is_deserted(s))
				mtag_end_mm(READ_ONCE(s->mm));
	rcu_read_unlock();
}

/* Those that have ended are checked and gone. Context: may sleep. */
void mtag_end_flush(void)
{
	flush_work(&ender);
}
