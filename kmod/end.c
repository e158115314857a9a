// SPDX-License-Identifier: GPL-2.0
/*
 * Ends spaces: checks their counters, and releases what is kept for them.
 *
 * An mm that ends loses all its pages, and nobody reads its counters any longer. So they are
 * not counted down: the counters are compared with the kernel's own just before, and the space
 * ends there. Where they differ, or cannot be compared, the space ends with its last page instead,
 * and whatever is left then is drift. That finds more, as pages that one tag has too many and
 * another too few: tests have all spaces end so (count_down).
 */
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include "account.h"
#include "compat/compat.h"
#include "end.h"
#include "mtag.h"
#include "note.h"
#include "sleep.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "sweep.h"
#include "thread.h"
#include "tree.h"
#include "watch.h"

#define SUM_BATCH	256U	/* tags between two chances to schedule */

static DEFINE_RAW_SPINLOCK(dead_lock);	/* protects dead_spaces */
static LIST_HEAD(dead_spaces);

static bool proving;	/* the self-test has all spaces counted down */

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

/*
 * I5: when a space dies, every counter of it is 0, or else they were right before it did. @s has
 * left its tree.
 */
static void check_ended(struct mtag_space *s)
{
	u64 left;

	if (mtag_space_parked(s))
		return;
	atomic64_inc(&mtag_stat.ended);
	if (READ_ONCE(s->sums_matched))
		return;
	mtag_note_forget(s, true);
	left = mtag_account_residue(rcu_dereference_protected(s->accounts, true));
	/*
	 * A space that was never counted may hold the residue of an attempt. If it comes from a
	 * fork that failed, nobody can have missed its count.
	 */
	if (!READ_ONCE(s->dirty) || (s->live && !left))
		atomic64_add(left, &mtag_stat.drift);
	else if (!READ_ONCE(s->birth.forking))
		atomic64_inc(&mtag_stat.dirty_ended);
}

/*
 * Ends those of @dead whose tree nobody uses now: one user's sweeps of its tags must not hold up
 * the ends of others. Return: did it end any?
 */
static bool end_some(struct list_head *dead)
{
	struct mtag_space *s, *next;
	bool any = false;

	list_for_each_entry_safe(s, next, dead, dead) {
		if (mutex_is_locked(&s->tree->lock))
			continue;
		list_del(&s->dead);
		/* Its accounts are looked at: from here on no relative's new tag replaces them. */
		mtag_tree_leave(s);
		check_ended(s);
		mtag_end_space(s);
		any = true;
		cond_resched();
	}
	return any;
}

static void end_work(struct work_struct *work)
{
	unsigned long flags;
	LIST_HEAD(dead);

	for (;;) {
		raw_spin_lock_irqsave(&dead_lock, flags);
		list_splice_tail_init(&dead_spaces, &dead);
		raw_spin_unlock_irqrestore(&dead_lock, flags);
		if (list_empty(&dead))
			return;
		if (!end_some(&dead))
			schedule_timeout_uninterruptible(1);
	}
}

/* Ends @s, unless somebody else does. Context: any; the caller keeps it from being freed. */
static void end_space(struct mtag_space *s)
{
	unsigned long flags;

	if (!mtag_space_unhash(s))
		return;
	raw_spin_lock_irqsave(&dead_lock, flags);
	list_add_tail(&s->dead, &dead_spaces);
	raw_spin_unlock_irqrestore(&dead_lock, flags);
	queue_work(mtag_wq, &ender);
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

	rcu_read_lock();
	s = mm ? mtag_space_find(mm) : NULL;
	if (s)
		end_space(s);
	rcu_read_unlock();
}

/* ---- spaces that end before their pages go ---- */

/* Adds up a batch of tags from @*tag on. Return: false at the last one, or at nonsense. */
static bool add_batch(struct mtag_space *s, unsigned int *tag, s64 total[MTAG_KINDS], bool *sound)
{
	const struct mtag_accounts *acc;
	unsigned int nr_tags, behind;
	struct mtag_sum sum;
	int i;

	rcu_read_lock();
	acc = rcu_dereference(s->accounts);
	nr_tags = mtag_accounts_nr(acc);
	for (behind = min(nr_tags, *tag + SUM_BATCH); *tag < behind; (*tag)++) {
		mtag_account_fold(acc, *tag, &sum);
		for (i = 0; i < MTAG_KINDS; i++) {
			total[i] += sum.nr[i];
			*sound &= sum.nr[i] >= 0;
		}
	}
	rcu_read_unlock();
	return *sound && *tag < nr_tags;
}

/* Adds up the pages of @s by kind. Return: false if a tag has less than none. */
static bool add_up(struct mtag_space *s, s64 total[MTAG_KINDS])
{
	bool sound = true, sleeps = mtag_sleep_begin();
	unsigned int tag = 0;

	memset(total, 0, MTAG_KINDS * sizeof(*total));
	while (add_batch(s, &tag, total, &sound))
		if (sleeps)
			cond_resched();
	if (sleeps)
		mtag_sleep_end();
	return sound;
}

/*
 * Are the sums of @s the kernel's? Reclaim, migration and the OOM reaper may still take pages away
 * meanwhile, and change the kernel's counters a little before or after ours. A difference proves
 * nothing, so the space is counted down. Agreement proves the counters right: nothing else makes
 * all four sums equal. A page under migration is counted by the kernel and perhaps not by us, and
 * one that was zapped there by us and not by the kernel.
 */
static bool sums_agree(struct mtag_space *s, struct mm_struct *mm)
{
	s64 total[MTAG_KINDS];

	return READ_ONCE(s->live) && !mtag_space_wrong(s) &&
	       !atomic_read(&s->migration.charged) && !atomic_read(&s->migration.uncharged) &&
	       add_up(s, total) &&
	       total[MTAG_ANON] == mtag_compat_rss_idle(mm, MM_ANONPAGES) &&
	       total[MTAG_FILE] == mtag_compat_rss_idle(mm, MM_FILEPAGES) &&
	       total[MTAG_SHMEM] == mtag_compat_rss_idle(mm, MM_SHMEMPAGES) &&
	       total[MTAG_SWAP] == mtag_compat_rss_idle(mm, MM_SWAPENTS);
}

/**
 * mtag_end_early() - end the space of @mm, whose pages are about to go, if its counters are right
 * @mm:		no task runs in it any longer, nor will; ksmd and khugepaged have left it
 *
 * From here on unmapping a page of @mm costs what it costs an untracked process. Ignoring these
 * events is safe: only relatives may still need the pages, and they are charged in their own
 * spaces, where their own events decide about the owner.
 * Context: hook of __mmput(); may sleep.
 */
void mtag_end_early(struct mm_struct *mm)
{
	struct mtag_space *s;

	if (READ_ONCE(mtag_count_down) || READ_ONCE(proving))
		return;
	s = mtag_space_lookup(mm);
	if (!s)
		return;
	WRITE_ONCE(s->sums_matched, !mtag_space_parked(s) && sums_agree(s, mm));
	if (s->sums_matched || mtag_space_parked(s)) {
		/* For readers that have found it before: there are no longer any numbers. */
		raw_spin_lock(&s->walk_lock);
		s->live = false;
		raw_spin_unlock(&s->walk_lock);
		end_space(s);
	}
	mtag_space_put(s);
}

/* Has all spaces counted down for a while, or no longer. Context: any. */
void mtag_end_prove(bool on)
{
	WRITE_ONCE(proving, on);
}

/* ---- spaces whose end was missed ---- */

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
				end_space(s);
	rcu_read_unlock();
}

/* Waits until the spaces that have ended are checked and gone. Context: may sleep. */
void mtag_end_flush(void)
{
	flush_work(&ender);
}
