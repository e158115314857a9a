// SPDX-License-Identifier: GPL-2.0
/*
 * End spaces: check their counters, and release what is kept for them.
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
#include "sweep.h"
#include "thread.h"
#include "tree.h"
#include "watch.h"

static DEFINE_RAW_SPINLOCK(dead_lock);	/* dead_spaces */
static LIST_HEAD(dead_spaces);

static void end_work(struct work_struct *work);
static DECLARE_WORK(ender, end_work);

/* Queued when no process is tracked; mtag_track_init() sets what it does. */
struct delayed_work mtag_end_linger_work;

/* No process is tracked: the hooks may go after a while. Context: any but NMI. */
void mtag_end_linger(void)
{
	if (!mtag_track_all)
		mod_delayed_work(mtag_system_wq, &mtag_end_linger_work,
				 msecs_to_jiffies(mtag_linger_ms));
}

/* Counts one tracked process less. Context: any but NMI. */
void mtag_end_retire(void)
{
	if (atomic_dec_and_test(&mtag_stat.tracked))
		mtag_end_linger();
}

/* Releases what is left of an unhashed space. Context: may sleep. */
void mtag_end_space(struct mtag_space *s)
{
	mtag_tree_leave(s);
	mtag_thread_end_space(s, mtag_sweep_ended);
	mtag_note_forget(s, false);
	mtag_watch_end(s);
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
	 * A space that was never counted may hold the residue of an attempt. If it comes from a
	 * fork that failed, nobody can have missed its count.
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
 * mtag_end_mm() - end the space of @mm: its pages are gone, and no task will run in it
 * @mm:		only compared; NULL does nothing
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
 * A space whose mm is being torn down right now ends too early. It may: the caller has found that
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

/* Waits until the spaces that have ended are checked and gone. Context: may sleep. */
void mtag_end_flush(void)
{
	flush_work(&ender);
}
