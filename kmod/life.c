// SPDX-License-Identifier: GPL-2.0
/*
 * The life of processes and threads: fork, exec, exit, and their names.
 */
#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "hook.h"
#include "later.h"
#include "mtag.h"
#include "present.h"
#include "rmap.h"
#include "stray.h"
#include "thread.h"
#include "walk.h"

static void lost(struct mtag_space *s)
{
	if (s)
		atomic64_inc(&s->lost);
	atomic64_inc(&mtag_stat.lost);
}

/*
 * Whoever is being killed comes to the end neither of a fork nor of an exec, whatever becomes of
 * the rest of it: what could not be recorded of the new mm is no loss.
 */
static void lost_unless_killed(struct mtag_space *s)
{
	if (!fatal_signal_pending(current))
		lost(s);
}

/* The new mm that the current task makes is not tracked, for the error @err. */
static void not_tracked(struct mtag_space *s, int err)
{
	/* The hooks are on their way out: nobody is tracked. */
	if (err == -ENODEV)
		return;
	lost_unless_killed(s);
}

static bool parked(const struct mtag_space *s)
{
	return READ_ONCE(s->slow) & MTAG_SLOW_PARKED;
}

/* ---- exec ---- */

/* The tree of the new program holds the default tag only, if the old one still sees it. */
static int inherit_default(struct mtag_space *s, struct mtag_space *old, gfp_t gfp)
{
	int tag = READ_ONCE(old->default_tag);

	if (!mtag_tree_sees(old, tag, current_euid()))
		tag = MTAG_ID_UNTAGGED;
	tag = mtag_tree_copy_path(s, old->tree, tag, gfp);
	if (tag < 0)
		return tag;
	s->by_thread = old->by_thread;
	s->default_tag = tag;
	s->base_tag = tag;
	return 0;
}

static int exec_space(struct mm_struct *mm, struct mtag_space *old, gfp_t gfp)
{
	struct mtag_tree *tree = mtag_tree_create(gfp);
	struct mtag_space *s;
	int ret = 0;

	if (!tree)
		return -ENOMEM;
	s = mtag_space_alloc(tree, gfp);
	mtag_tree_put(tree);
	if (!s)
		return -ENOMEM;
	/* No page has come yet: it is counted from the first one on. */
	s->live = true;
	s->slow = 0;
	if (old)
		ret = inherit_default(s, old, gfp);
	if (!ret)
		ret = mtag_space_publish(s, mm, gfp);
	mtag_space_put(s);
	return ret;
}

/*
 * copy_string_kernel(string, bprm): exec copies the program's name into the new mm, its first page,
 * and other strings later. From here on the mm ends by __mmput() whatever fails.
 */
MTAG_HOOK_FUNC(mtag_life_exec_begin)
{
	struct linux_binprm *bprm = (struct linux_binprm *)mtag_arg1(fregs);
	struct mm_struct *mm = bprm->mm;
	struct mtag_space *old;
	bool sleeps;
	gfp_t gfp;
	int ret;

	/* The strings go down from the end of the stack. */
	if (bprm->p != bprm->vma->vm_end - sizeof(void *))
		return;
	old = current->mm ? mtag_space_get_mm(current->mm) : NULL;
	if ((old && !parked(old)) || mtag_track_all) {
		gfp = mtag_hook_gfp(&sleeps);
		ret = gfp ? exec_space(mm, old && !parked(old) ? old : NULL, gfp) : -ENOMEM;
		if (ret)
			not_tracked(old, ret);
		if (sleeps)
			mtag_hook_sleep_end();
	}
	if (old)
		mtag_space_put(old);
}

/* lru_gen_del_mm(mm): the end of __mmput(), all pages are gone; or a task changes its cgroup */
MTAG_HOOK_FUNC(mtag_life_mm_gone)
{
	struct mm_struct *mm = (struct mm_struct *)mtag_arg0(fregs);

	bool tracked;

	if (atomic_read(&mm->mm_users))
		return;
	rcu_read_lock();
	tracked = mtag_space_find(mm);
	rcu_read_unlock();
	if (tracked) {
		mtag_space_end(mm);
		mtag_thread_zap_end();
	}
	mtag_stray_end(mm);
}

/* mm_update_next_owner(mm): by a task that exits, or that has begun another program */
MTAG_HOOK_FUNC(mtag_life_mm_leave)
{
	struct mm_struct *mm = (struct mm_struct *)mtag_arg0(fregs);
	struct mtag_space *s;

	if (!(current->flags & PF_EXITING) || atomic_read(&mm->mm_users) > 1)
		return;
	rcu_read_lock();
	s = mtag_space_find(mm);
	if (s && !parked(s))
		mtag_netlink_event("exit", current->group_leader);
	rcu_read_unlock();
}

/* ---- fork ---- */

static void fork_space(struct mtag_space *parent, struct mm_struct *mm, gfp_t gfp)
{
	struct mtag_space *child = gfp ? mtag_space_alloc(parent->tree, gfp) : NULL;
	int ret;

	if (!child) {
		lost_unless_killed(parent);
		mtag_stray_add(mm, parent->tree);
		return;
	}
	child->unborn = true;
	mtag_tree_inherit(child, parent);
	child->default_tag = READ_ONCE(parent->default_tag);
	child->by_thread = parent->by_thread;
	child->slow |= READ_ONCE(parent->slow) & (MTAG_SLOW_PARKED | MTAG_SLOW_RANGE);
	ret = mtag_range_fork(child, parent, gfp);
	if (!ret)
		ret = mtag_space_publish(child, mm, gfp);
	if (ret) {
		not_tracked(parent, ret);
		mtag_stray_add(mm, parent->tree);
	}
	mtag_space_put(child);
}

/* uprobe_dup_mmap(oldmm, mm): a fork begins; the parent's mmap_lock is held for writing */
MTAG_HOOK_FUNC(mtag_life_fork_begin)
{
	struct mm_struct *oldmm = (struct mm_struct *)mtag_arg0(fregs);
	struct mm_struct *mm = (struct mm_struct *)mtag_arg1(fregs);
	struct mtag_space *parent = mtag_space_get_mm(oldmm);
	bool sleeps;
	gfp_t gfp;

	if (!parent) {
		mtag_stray_fork(oldmm, mm);
		return;
	}
	gfp = mtag_hook_gfp(&sleeps);
	fork_space(parent, mm, gfp);
	if (sleeps)
		mtag_hook_sleep_end();
	raw_spin_lock(&parent->walk_lock);
	parent->forker = current;
	parent->fork_events = 0;
	WRITE_ONCE(parent->slow, parent->slow | MTAG_SLOW_FORK);
	raw_spin_unlock(&parent->walk_lock);
	mtag_space_put(parent);
}

static void fork_copied(struct mtag_space *parent, struct mtag_space *child,
			struct mm_struct *oldmm, struct mm_struct *mm)
{
	bool sleeps;
	gfp_t gfp = mtag_hook_gfp(&sleeps);

	mtag_thread_fork(parent, child);
	/* Where nothing may be allocated page tables cannot be locked either. */
	if (!gfp)
		child->untag = !READ_ONCE(parent->live);
	/* What cannot be counted now is counted by the first to ask. */
	if (!gfp || mtag_walk_fork(parent, child, oldmm, mm, gfp))
		mtag_space_dirty(child);
	if (sleeps)
		mtag_hook_sleep_end();
}

/* ldt_dup_context(oldmm, mm): all is copied; both mmap_locks are held for writing */
MTAG_HOOK_FUNC(mtag_life_fork_copied)
{
	struct mm_struct *oldmm = (struct mm_struct *)mtag_arg0(fregs);
	struct mm_struct *mm = (struct mm_struct *)mtag_arg1(fregs);
	struct mtag_space *parent = mtag_space_get_mm(oldmm);
	struct mtag_space *child = parent ? mtag_space_get_mm(mm) : NULL;

	if (child && !parked(child))
		fork_copied(parent, child, oldmm, mm);
	if (child)
		mtag_space_put(child);
	if (parent)
		mtag_space_put(parent);
}

/* uprobe_end_dup_mmap(): the fork has ended, well or not */
MTAG_HOOK_FUNC(mtag_life_fork_end)
{
	struct mtag_space *s = current->mm ? mtag_space_get_mm(current->mm) : NULL;

	if (!s)
		return;
	raw_spin_lock(&s->walk_lock);
	/* Another thread's fork may have begun meanwhile. */
	if (s->forker == current) {
		s->forker = NULL;
		WRITE_ONCE(s->slow, s->slow & ~MTAG_SLOW_FORK);
	}
	raw_spin_unlock(&s->walk_lock);
	mtag_space_put(s);
}

/* ---- names of threads as tags ---- */

/**
 * struct naming - a thread is to be tagged after its name
 * @later:	of the task that named it
 * @task:	the thread; reference
 * @mm:		of @task; only compared, no reference
 * @name:	as it was given, made a component later
 */
struct naming {
	struct mtag_later later;
	struct task_struct *task;
	struct mm_struct *mm;
	char name[TASK_COMM_LEN];
};

static void naming_free(struct naming *n)
{
	put_task_struct(n->task);
	kfree(n);
}

static void naming_run(struct mtag_later *later, bool runs)
{
	struct naming *n = container_of(later, struct naming, later);
	struct mtag_space *s = NULL;
	size_t len;
	int tag;

	/* It names a thread of its own process; n->mm is only compared. */
	if (runs && current->mm == n->mm)
		s = mtag_space_get_mm(current->mm);
	if (s) {
		len = mtag_name_component(n->name);
		tag = len ? mtag_tree_intern(s, s->default_tag, n->name, len) : -EINVAL;
		if (tag >= 0 && mtag_thread_set(s, n->task, tag) == -ENOMEM)
			lost(s);
		mtag_space_put(s);
	}
	naming_free(n);
}

static struct naming *naming_alloc(struct task_struct *task, const char *name)
{
	struct naming *n;
	bool sleeps;
	gfp_t gfp = mtag_hook_gfp(&sleeps);

	n = gfp ? kmalloc(sizeof(*n), gfp) : NULL;
	if (sleeps)
		mtag_hook_sleep_end();
	if (!n)
		return NULL;
	n->task = get_task_struct(task);
	n->mm = current->mm;
	strscpy(n->name, name, sizeof(n->name));
	return n;
}

static void name_thread(struct mtag_space *s, struct task_struct *task, const char *name)
{
	struct naming *n = naming_alloc(task, name);

	if (!n)
		lost(s);
	else if (!mtag_later(current, &n->later, naming_run))
		naming_free(n);
}

/* __set_task_comm(task, name, exec): a thread is named, by itself or by another, or by exec */
MTAG_HOOK_FUNC(mtag_life_rename)
{
	struct task_struct *task = (struct task_struct *)mtag_arg0(fregs);
	struct mtag_space *s;

	if (!current->mm || READ_ONCE(task->mm) != current->mm)
		return;
	s = mtag_space_get_mm(current->mm);
	if (!s)
		return;
	if (s->by_thread && !parked(s))
		name_thread(s, task, (const char *)mtag_arg1(fregs));
	mtag_space_put(s);
}

/* ---- threads ---- */

/* wake_up_new_task(task): its creator is done with it, and it has not run yet */
MTAG_HOOK_FUNC(mtag_life_thread_begin)
{
	struct task_struct *task = (struct task_struct *)mtag_arg0(fregs);
	struct mtag_space *s = task->mm ? mtag_space_get_mm(task->mm) : NULL;
	bool sleeps;
	gfp_t gfp;

	if (!s)
		return;
	WRITE_ONCE(s->unborn, false);
	if (!parked(s)) {
		gfp = mtag_hook_gfp(&sleeps);
		mtag_thread_start(s, task, gfp);
		if (sleeps)
			mtag_hook_sleep_end();
	}
	mtag_space_put(s);
}

/*
 * flush_ptrace_hw_breakpoint(task): called by exec and by exit, and by nobody
 * else, once the task has left its memory. No exiting task zaps page tables or
 * runs a task work behind this.
 */
MTAG_HOOK_FUNC(mtag_life_thread_end)
{
	mtag_thread_end((struct task_struct *)mtag_arg0(fregs));
}
