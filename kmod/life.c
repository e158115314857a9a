// SPDX-License-Identifier: GPL-2.0
/*
 * Follows processes and threads through exec, exit and the start of new threads.
 */
#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "bymap.h"
#include "bytid.h"
#include "compat/compat.h"
#include "end.h"
#include "final.h"
#include "hooked.h"
#include "life.h"
#include "mtag.h"
#include "naming.h"
#include "path.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "stray.h"
#include "sweep.h"
#include "tell.h"
#include "text.h"
#include "thread.h"
#include "thread_start.h"
#include "touched.h"
#include "tree.h"
#include "zap.h"

/* ---- exec ---- */

/* The tree of the new program gets only the default tag, if the old program still sees it. */
static int inherit_default(struct mtag_space *s, struct mtag_space *old, gfp_t gfp)
{
	int tag = READ_ONCE(old->default_tag);

	if (!mtag_tree_sees(old, tag, current_euid()))
		tag = MTAG_ID_UNTAGGED;
	tag = mtag_path_copy(s, old->tree, tag, gfp);
	if (tag < 0)
		return tag;
	s->naming = READ_ONCE(old->naming);
	s->default_tag = tag;
	s->base_tag = tag;
	return 0;
}

static int exec_space(const struct linux_binprm *bprm, struct mtag_space *old, gfp_t gfp)
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
	/* The mm has no pages yet: they are counted from the first one on. */
	s->live = true;
	s->slow = 0;
	s->process = current->signal;
	if (old)
		ret = inherit_default(s, old, gfp);
	/* Without memory the stacks of the new program are not taken. */
	if (old && mtag_space_stacks(old) && mtag_text_exec(s, old, gfp))
		mtag_touched_lost(NULL);
	/* The stack is mapped already. */
	if (!ret)
		mtag_bymap_begin(s, bprm->vma);
	if (!ret)
		ret = mtag_space_publish(s, bprm->mm, gfp);
	mtag_space_put(s);
	return ret;
}

/*
 * copy_string_kernel(string, bprm): exec copies the program's name into the first page of the new
 * mm; other strings follow. From here on the mm ends in __mmput(), whatever fails.
 */
MTAG_HOOK_FUNC(mtag_life_exec_begin)
{
	struct linux_binprm *bprm = (struct linux_binprm *)mtag_arg1(fregs);
	struct mtag_space *old;
	bool sleeps;
	gfp_t gfp;
	int ret;

	/* Strings grow down from the end of the stack: handle only the first one. */
	if (bprm->p != bprm->vma->vm_end - sizeof(void *))
		return;
	old = mtag_space_mine();
	if ((old && !mtag_space_parked(old)) || mtag_track_all) {
		gfp = mtag_sleep_gfp(&sleeps);
		ret = -ENOMEM;
		if (gfp)
			ret = exec_space(bprm, old && !mtag_space_parked(old) ? old : NULL, gfp);
		if (ret)
			mtag_space_unborn(old, ret);
		if (sleeps)
			mtag_sleep_end();
	}
	if (old)
		mtag_space_put(old);
}

/* exit_mmap(mm): the part of __mmput() that unmaps all pages, once tasks no longer run in @mm */
MTAG_HOOK_FUNC(mtag_life_mm_going)
{
	mtag_end_early((struct mm_struct *)mtag_arg0(fregs));
}

/* lru_gen_del_mm(mm): end of __mmput(), when all pages are gone; or a task changes its cgroup */
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
		mtag_end_mm(mm);
		mtag_zap_end();
	}
	mtag_stray_end(mm);
}

/* mm_update_next_owner(mm): called by a task that exits or has executed another program */
MTAG_HOOK_FUNC(mtag_life_mm_leave)
{
	struct mm_struct *mm = (struct mm_struct *)mtag_arg0(fregs);
	struct mtag_space *s;

	if (!(current->flags & PF_EXITING) || atomic_read(&current->signal->live))
		return;
	s = mtag_space_lookup(mm);
	if (!s)
		return;
	/*
	 * Others may have the mm, too, such as a child by vfork(): when that ends, the process does
	 * not. The last threads of the process may be here at once.
	 */
	if (!mtag_space_parked(s) && READ_ONCE(s->process) == current->signal &&
	    !xchg(&s->exit_told, true)) {
		mtag_final_take(s, mm);
		/* Record first, so that a listener finds the process in the history. */
		mtag_tell("exit", current->group_leader);
	}
	mtag_space_put(s);
}

/* Any mm that a thread of the process of @task has; only to compare. Context: RCU. */
static const struct mm_struct *any_mm(struct task_struct *task)
{
	const struct mm_struct *mm = NULL;
	struct task_struct *t;

	for_each_thread(task, t) {
		mm = READ_ONCE(t->mm);
		if (mm)
			break;
	}
	return mm;
}

/*
 * __oom_kill_process(victim, message): the OOM killer is about to send SIGKILL to a process. The
 * kernel marks as its victims also processes that it finds dying already, and does not record what
 * killed them. So that is looked at now.
 */
MTAG_HOOK_FUNC(mtag_life_oom_kill)
{
	struct task_struct *victim = (struct task_struct *)mtag_arg0(fregs);
	const struct mm_struct *mm;
	struct mtag_space *s;

	if (READ_ONCE(victim->signal->flags) & SIGNAL_GROUP_EXIT)
		return;
	rcu_read_lock();
	mm = any_mm(victim);
	s = mm ? mtag_space_find(mm) : NULL;
	if (s && READ_ONCE(s->process) == victim->signal)
		WRITE_ONCE(s->oom, true);
	rcu_read_unlock();
}

/* ---- threads ---- */

/* wake_up_new_task(task): the task is complete and has not run yet */
MTAG_HOOK_FUNC(mtag_life_thread_begin)
{
	struct task_struct *task = (struct task_struct *)mtag_arg0(fregs);
	struct mtag_space *s = task->mm ? mtag_space_lookup(task->mm) : NULL;
	bool sleeps;
	gfp_t gfp;
	u32 own;

	if (!s)
		return;
	if (s->birth.forking) {
		WRITE_ONCE(s->process, task->signal);
		/* Pairs with mtag_access_owner(). */
		smp_store_release(&s->birth.forking, false);
	}
	if (!mtag_space_parked(s)) {
		gfp = mtag_sleep_gfp(&sleeps);
		own = mtag_naming_born(s, task, gfp);
		/* Without a record, the thread's end says nothing of its tag. */
		if (!mtag_thread_start(s, task, own, gfp) && own)
			mtag_sweep_ended(s, own);
		if (sleeps)
			mtag_sleep_end();
	}
	mtag_space_put(s);
}

/*
 * flush_ptrace_hw_breakpoint(task): called only by exec and exit, once the task
 * has left its mm. An exiting task zaps no page tables and runs no task work
 * after this.
 */
MTAG_HOOK_FUNC(mtag_life_thread_end)
{
	struct task_struct *task = (struct task_struct *)mtag_arg0(fregs);
	struct mtag_space *s;
	u32 own = mtag_bytid_take(task, &s);

	mtag_thread_end(task);
	if (own) {
		mtag_sweep_ended(s, own);
		mtag_space_put(s);
	}
}
