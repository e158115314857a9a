// SPDX-License-Identifier: GPL-2.0
/*
 * Starts and stops tracking processes, and installs and removes the hooks as needed.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>
#include "compat/compat.h"
#include "end.h"
#include "hook.h"
#include "ksm.h"
#include "migrate.h"
#include "mtag.h"
#include "note.h"
#include "space.h"
#include "stacks.h"
#include "stat.h"
#include "state.h"
#include "stray.h"
#include "swap.h"
#include "sweep.h"
#include "tell.h"
#include "thread.h"
#include "track.h"
#include "tree.h"
#include "walk.h"
#include "watch.h"

/* Serializes installing and removing the hooks, and publishing spaces that need them. */
static DEFINE_MUTEX(track_mutex);

/* Where hooks may miss events, verify even without readers. Ends with the hooks. */
static void verify_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(verifier, verify_work);

static void verify_work(struct work_struct *work)
{
	mtag_walk_verify();
	queue_delayed_work(mtag_system_wq, &verifier, HZ);
}

/* ---- one change of an mm at a time ---- */

/**
 * struct change - a change of tracking under way
 * @node:	in changes; change_lock
 * @mm:		only compared
 *
 * A walk takes time, and waits for an mmap_lock that its process may hold for as
 * long as it likes. This delays other changes of the same mm, and no others.
 */
struct change {
	struct list_head node;
	const struct mm_struct *mm;
};

static LIST_HEAD(changes);
static DEFINE_SPINLOCK(change_lock);	/* protects changes */

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
	return wait_var_event_killable((void *)mm, change_try(c)) ? -EINTR : 0;
}

static void change_end(struct change *c)
{
	spin_lock(&change_lock);
	list_del(&c->node);
	spin_unlock(&change_lock);
	/* Pairs with the wait: it sees the change gone, or this sees the waiter. */
	smp_mb();
	/* Only those of this mm: others may be many, and each goes through the list. */
	wake_up_var((void *)c->mm);
}

/* ---- tracking and untracking ---- */

static bool closed;	/* the module is being unloaded; track_mutex */

/*
 * The caller starts to track something at once, then must call hooks_unlock(). Killable: the holder
 * of the mutex may wait until all tasks have left the hooks.
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
 * The process may share pages with its relatives, owned by tags of their tree.
 * Keep its space, so that it returns to that tree if it is tracked again.
 * Context: build_lock, released here.
 */
static void park_space(struct mtag_space *s)
{
	lockdep_assert_held(&s->tree->build_lock);
	raw_spin_lock(&s->walk_lock);
	s->live = false;
	mtag_space_change_slow_nolock(s, MTAG_SLOW_PARKED, MTAG_SLOW_STACKS);
	raw_spin_unlock(&s->walk_lock);
	WRITE_ONCE(s->tree->parked, true);
	mutex_unlock(&s->tree->build_lock);
	mtag_thread_end_space(s, mtag_sweep_ended);
	mtag_note_forget(s, false);
	mtag_watch_end(s);
	mtag_end_retire();
}

/* Context: build_lock, released here. */
static void untrack_space(struct mtag_space *s)
{
	bool hashed;

	lockdep_assert_held(&s->tree->build_lock);
	if (has_relatives(s)) {
		park_space(s);
		return;
	}
	/* A fork may be under way, whose child shares its pages and stays in the tree. */
	mtag_stray_add(s->grabbed, s->tree);
	hashed = mtag_space_unhash(s);
	not_live(s);
	mutex_lock(&s->tree->lock);
	/* A fork that joins the tree after this finds the space unhashed, and adds the stray. */
	if (!hashed || list_is_singular(&s->tree->spaces))
		mtag_stray_end(s->grabbed);
	mutex_unlock(&s->tree->lock);
	mutex_unlock(&s->tree->build_lock);
	if (hashed) {
		/* Hooks use the space under RCU. */
		synchronize_rcu();
		mtag_end_space(s);
	}
}

/* The process whose end is that of @s, and not that of a child by vfork(). */
static void set_process(struct mtag_space *s, struct mm_struct *mm)
{
	struct task_struct *owner;

	rcu_read_lock();
	owner = mtag_mm_owner(mm);
	WRITE_ONCE(s->process, owner ? owner->signal : NULL);
	rcu_read_unlock();
}

/* Make @s, in a new tree, visible to lookups. Return: 0 with its build_lock held, or an error. */
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
	s->birth.untag = true;
	s->birth.attached = true;
	set_process(s, mm);
	ret = publish_new(s, mm);
	if (ret)
		goto put_space;
	ret = mtag_walk_build(s, mm, true);
	if (ret) {
		/* The process may have forked meanwhile. */
		untrack_space(s);
	} else {
		mtag_stray_end(mm);
		mutex_unlock(&s->tree->build_lock);
	}
put_space:
	mtag_space_put(s);
	return ret;
}

/*
 * Once the space is no longer parked, its threads may register words, and anybody may set a
 * limit. So if the walk fails, the space is parked as one that was tracked.
 * Context: build_lock, released here. @s is counted as tracked; if this fails, no longer.
 * Return: -ESTALE if @s has gone, and its tree with it.
 */
static int build_parked(struct mtag_space *s, struct mm_struct *mm)
{
	int ret;

	lockdep_assert_held(&s->tree->build_lock);
	/* The hooks were removed since @s was looked up, and all spaces with them. */
	if (!READ_ONCE(s->mm)) {
		mutex_unlock(&s->tree->build_lock);
		mtag_end_retire();
		return -ESTALE;
	}
	WRITE_ONCE(s->default_tag, MTAG_ID_UNTAGGED);
	WRITE_ONCE(s->birth.untag, true);
	WRITE_ONCE(s->birth.attached, true);
	mtag_space_change_slow(s, MTAG_SLOW_WALK, MTAG_SLOW_PARKED);
	ret = mtag_walk_build(s, mm, false);
	if (ret)
		park_space(s);
	else
		mutex_unlock(&s->tree->build_lock);
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
	if (ret) {
		mtag_end_retire();
		return ret;
	}
	return build_parked(s, mm);
}

static void tell_tracking(const char *kind, struct mm_struct *mm)
{
	struct task_struct *task;

	rcu_read_lock();
	task = mtag_mm_owner(mm);
	if (task)
		mtag_tell(kind, task);
	rcu_read_unlock();
}

/**
 * mtag_track_start() - start tracking @mm; its pages become untagged
 * @mm:		mm of a user process
 *
 * Context: caller holds a reference on @mm. May sleep.
 * Return: 0, also if @mm is tracked already; -ENOSPC, -ENOMEM, -EINTR; -EBUSY
 * or another error from installing the hooks.
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
		/* No process whose pages it may share is tracked any longer: it begins anew. */
		if (ret == -ESTALE)
			ret = track_new(mm);
		if (!ret)
			tell_tracking("track", mm);
	}
	if (s)
		mtag_space_put(s);
	change_end(&c);
	return ret;
}

/**
 * mtag_track_stop() - stop tracking @mm
 * @mm:		mm of a user process
 *
 * Context: caller holds a reference on @mm. May sleep.
 * Return: 0; -ESRCH if @mm is not tracked; -EINTR if killed while waiting.
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
		tell_tracking("untrack", mm);
		untrack_space(s);
	}
	if (s)
		mtag_space_put(s);
	change_end(&c);
	return ret;
}

/* ---- removal of all state ---- */

/* Context: track_mutex. */
static void drop_all(void)
{
	unsigned int bucket = 0;
	struct mtag_space *s = NULL;

	lockdep_assert_held(&track_mutex);
	while ((s = mtag_space_next(s, &bucket))) {
		if (mtag_space_unhash(s)) {
			/* Waits for a walk or a report under way, which has found it before. */
			mutex_lock(&s->tree->build_lock);
			mutex_unlock(&s->tree->build_lock);
			mtag_end_space(s);
			/* Its place in the bucket is gone: start the bucket over. */
			mtag_space_put(s);
			s = NULL;
		}
	}
}

/*
 * Remove the hooks and all state. No space is published from here on, and the
 * spaces go before the hooks: without hooks nothing reports the end of an mm.
 * Context: track_mutex.
 */
static void remove_idle(void)
{
	lockdep_assert_held(&track_mutex);
	mtag_space_open(false);
	cancel_delayed_work_sync(&verifier);
	drop_all();
	mtag_hook_remove();
	mtag_end_flush();
	mtag_watch_flush();
	mtag_swap_exit();
	mtag_ksm_exit();
	mtag_thread_exit();
	mtag_migrate_exit();
	mtag_stacks_idle();
}

static void linger_work(struct work_struct *work)
{
	mutex_lock(&track_mutex);
	if (!atomic_read(&mtag_stat.tracked) && !mtag_track_all)
		remove_idle();
	mutex_unlock(&track_mutex);
}

/* The module is being unloaded: stop all tracking, remove the hooks, and admit no more. */
void mtag_track_close(void)
{
	mutex_lock(&track_mutex);
	closed = true;
	remove_idle();
	mutex_unlock(&track_mutex);
}

/* Sets the work that removes the hooks once nothing has been tracked for a while. Return: 0. */
int mtag_track_init(void)
{
	INIT_DELAYED_WORK(&mtag_end_linger_work, linger_work);
	return 0;
}

/*
 * The linger work may be queued: the end of the last space queues it, and so does a failed attempt
 * to track during the unload. Context: no more attempts can begin.
 */
void mtag_track_exit(void)
{
	cancel_delayed_work_sync(&mtag_end_linger_work);
	/* RCU callbacks queue work: wait for both. */
	rcu_barrier();
	flush_workqueue(mtag_wq);
	mtag_migrate_exit();
}
