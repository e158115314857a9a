// SPDX-License-Identifier: GPL-2.0
/*
 * Tracking: what is tracked, for how long the hooks are in, and how it ends.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include "compat/compat.h"
#include "end.h"
#include "hook.h"
#include "ksm.h"
#include "migrate.h"
#include "mtag.h"
#include "note.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "stray.h"
#include "swap.h"
#include "tell.h"
#include "thread.h"
#include "track.h"
#include "tree.h"
#include "walk.h"

/* Serializes putting the hooks in and out, and what the hooks are there for from now on. */
static DEFINE_MUTEX(track_mutex);

/* Where hooks may miss something: look, though nobody reads. It ends with the hooks. */
static void verify_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(verifier, verify_work);

static void verify_work(struct work_struct *work)
{
	mtag_walk_verify();
	queue_delayed_work(mtag_system_wq, &verifier, HZ);
}

/* ---- one change of an mm at a time ---- */

/**
 * struct change - the tracking of an mm is being changed
 * @node:	in changes; change_lock
 * @mm:		only compared
 *
 * A walk takes its time, and waits for an mmap_lock that its process may keep
 * for as long as it likes: that holds up who wants the same mm, and nobody else.
 */
struct change {
	struct list_head node;
	const struct mm_struct *mm;
};

static LIST_HEAD(changes);
static DEFINE_SPINLOCK(change_lock);
static DECLARE_WAIT_QUEUE_HEAD(change_ended);

static bool change_try(struct change *c)
{
	struct change *other;
	bool first = true;

	spin_lock(&change_lock);
	list_for_each_entry(other, &changes, node)
		first &= other->mm != c->mm;
	if (first)
		list_add(&c->node, &changes);
	spin_unlock(&change_lock);
	return first;
}

/* The caller must change_end() it. */
static int __must_check change_begin(struct change *c, const struct mm_struct *mm)
{
	c->mm = mm;
	return wait_event_killable(change_ended, change_try(c)) ? -EINTR : 0;
}

static void change_end(struct change *c)
{
	spin_lock(&change_lock);
	list_del(&c->node);
	spin_unlock(&change_lock);
	wake_up_all(&change_ended);
}

/* ---- tracking and untracking ---- */

static bool closed;	/* the module is going; track_mutex */

/*
 * The caller tracks something at once, then must hooks_unlock(). Whoever holds the mutex may be
 * waiting until all tasks have left the hooks.
 */
static int __must_check hooks_lock(void)
{
	int ret = mutex_lock_killable(&track_mutex);

	if (ret)
		return ret;
	ret = closed ? -ENODEV : mtag_hook_install();
	if (ret) {
		mutex_unlock(&track_mutex);
		return ret;
	}
	mtag_space_open(true);
	if (mtag_hook_may_miss())
		queue_delayed_work(mtag_system_wq, &verifier, HZ);
	return 0;
}

static void hooks_unlock(void)
{
	if (!atomic_read(&mtag_stat.tracked))
		mtag_end_linger();
	mutex_unlock(&track_mutex);
}

static void not_live(struct mtag_space *s)
{
	raw_spin_lock(&s->walk_lock);
	s->live = false;
	raw_spin_unlock(&s->walk_lock);
}

static bool has_relatives(struct mtag_space *s)
{
	bool ret;

	mutex_lock(&s->tree->lock);
	ret = !list_is_singular(&s->tree->spaces);
	mutex_unlock(&s->tree->lock);
	return ret;
}

/*
 * It may share pages with those it forked, owned by tags of their tree: it
 * stays known, so that it comes back to that tree should it be tracked again.
 * Context: build_lock, which this unlocks.
 */
static void park(struct mtag_space *s)
{
	raw_spin_lock(&s->walk_lock);
	s->live = false;
	WRITE_ONCE(s->slow, s->slow | MTAG_SLOW_PARKED);
	raw_spin_unlock(&s->walk_lock);
	s->tree->parked = true;
	mutex_unlock(&s->tree->build_lock);
	mtag_thread_end_space(s);
	mtag_note_forget(s, false);
	mtag_end_retire();
}

/* Context: build_lock, which this unlocks. */
static void untrack(struct mtag_space *s)
{
	bool hashed;

	if (has_relatives(s)) {
		park(s);
		return;
	}
	/* It may fork just now, and share its pages with a child that stays in the tree. */
	mtag_stray_add(s->grabbed, s->tree);
	hashed = mtag_space_unhash(s);
	not_live(s);
	if (!hashed || !has_relatives(s))
		mtag_stray_end(s->grabbed);
	mutex_unlock(&s->tree->build_lock);
	if (hashed) {
		/* Hooks let go of it by RCU. */
		synchronize_rcu();
		mtag_end_space(s);
	}
}

/* @s, in a new tree, is found from here on, and its build_lock held. */
static int publish_new(struct mtag_space *s, struct mm_struct *mm)
{
	int ret = hooks_lock();

	if (ret)
		return ret;
	mutex_lock(&s->tree->build_lock);
	ret = mtag_space_publish(s, mm, MTAG_GFP);
	hooks_unlock();
	if (ret)
		mutex_unlock(&s->tree->build_lock);
	return ret;
}

static int track_new(struct mm_struct *mm)
{
	struct mtag_tree *tree = mtag_tree_create(MTAG_GFP);
	struct mtag_space *s;
	int ret = -ENOMEM;

	if (!tree)
		return ret;
	s = mtag_space_alloc(tree, MTAG_GFP);
	mtag_tree_put(tree);
	if (!s)
		return ret;
	ret = publish_new(s, mm);
	if (ret)
		goto put;
	ret = mtag_walk_build(s, mm, true);
	if (ret) {
		/* It may have forked meanwhile. */
		untrack(s);
	} else {
		mtag_stray_end(mm);
		mutex_unlock(&s->tree->build_lock);
	}
put:
	mtag_space_put(s);
	return ret;
}

/* Context: build_lock. */
static int build_parked(struct mtag_space *s, struct mm_struct *mm)
{
	int ret;

	/* The module is going. */
	if (!READ_ONCE(s->mm))
		return -ENODEV;
	s->default_tag = MTAG_ID_UNTAGGED;
	mtag_space_slow(s, MTAG_SLOW_WALK, MTAG_SLOW_PARKED);
	ret = mtag_walk_build(s, mm, false);
	if (ret)
		mtag_space_slow(s, MTAG_SLOW_PARKED, 0);
	return ret;
}

static int track_parked(struct mtag_space *s, struct mm_struct *mm)
{
	int ret = hooks_lock();

	if (ret)
		return ret;
	if (!mtag_space_admit())
		ret = -ENOSPC;
	hooks_unlock();
	if (ret)
		return ret;
	ret = mutex_lock_killable(&s->tree->build_lock);
	if (!ret) {
		ret = build_parked(s, mm);
		mutex_unlock(&s->tree->build_lock);
	}
	if (ret)
		mtag_end_retire();
	return ret;
}

static void tell(const char *kind, struct mm_struct *mm)
{
	struct task_struct *task;

	rcu_read_lock();
	task = rcu_dereference(mm->owner);
	if (task)
		mtag_tell(kind, task);
	rcu_read_unlock();
}

/**
 * mtag_track_start() - have @mm tracked; its pages become untagged
 * @mm:		of a user process
 *
 * Context: may sleep; caller has a reference on @mm.
 * Return: 0, also if it is tracked already; -ENOSPC, -ENOMEM, -EINTR; -EBUSY
 * or another error of the hooks.
 */
int mtag_track_start(struct mm_struct *mm)
{
	struct mtag_space *s;
	struct change c;
	int ret = change_begin(&c, mm);

	if (ret)
		return ret;
	s = mtag_space_lookup(mm);
	if (!s || mtag_space_parked(s)) {
		ret = s ? track_parked(s, mm) : track_new(mm);
		if (!ret)
			tell("track", mm);
	}
	if (s)
		mtag_space_put(s);
	change_end(&c);
	return ret;
}

/**
 * mtag_track_stop() - stop tracking @mm
 * @mm:		of a user process
 *
 * Context: may sleep; caller has a reference on @mm.
 * Return: 0; -ESRCH if it is not tracked; -EINTR when killed while waiting.
 */
int mtag_track_stop(struct mm_struct *mm)
{
	struct mtag_space *s;
	struct change c;
	int ret = change_begin(&c, mm);

	if (ret)
		return ret;
	s = mtag_space_lookup(mm);
	if (!s || mtag_space_parked(s))
		ret = -ESRCH;
	else
		ret = mutex_lock_killable(&s->tree->build_lock);
	if (!ret) {
		tell("untrack", mm);
		untrack(s);
	}
	if (s)
		mtag_space_put(s);
	change_end(&c);
	return ret;
}

/* ---- nothing at all ---- */

/* Context: track_mutex. */
static void drop_all(void)
{
	unsigned int bucket = 0;
	struct mtag_space *s = NULL;

	while ((s = mtag_space_next(s, &bucket))) {
		if (mtag_space_unhash(s)) {
			mutex_lock(&s->tree->build_lock);
			mutex_unlock(&s->tree->build_lock);
			mtag_end_space(s);
			/* The place in the bucket went with it: from the bucket's beginning. */
			mtag_space_put(s);
			s = NULL;
		}
	}
}

/*
 * No hook, no state. Nothing is published from the beginning on, and spaces go
 * first: without the hooks nobody would tell that an mm is gone. Context: track_mutex.
 */
static void idle(void)
{
	mtag_space_open(false);
	cancel_delayed_work_sync(&verifier);
	drop_all();
	mtag_hook_remove();
	mtag_end_flush();
	mtag_swap_exit();
	mtag_ksm_exit();
	mtag_thread_exit();
	mtag_migrate_exit();
}

static void linger_work(struct work_struct *work)
{
	mutex_lock(&track_mutex);
	if (!atomic_read(&mtag_stat.tracked) && !mtag_track_all)
		idle();
	mutex_unlock(&track_mutex);
}

/* The module is going: nothing is tracked, no hook is in, and so it stays. */
void mtag_track_close(void)
{
	mutex_lock(&track_mutex);
	closed = true;
	idle();
	mutex_unlock(&track_mutex);
}

int mtag_track_init(void)
{
	INIT_DELAYED_WORK(&mtag_end_linger_work, linger_work);
	return 0;
}

/* A task that tried in vain while the module went asked for it, too. Context: nobody tries now. */
void mtag_track_exit(void)
{
	cancel_delayed_work_sync(&mtag_end_linger_work);
	/* The callbacks queue work, and the work must be done. */
	rcu_barrier();
	flush_workqueue(mtag_wq);
	mtag_migrate_exit();
}
