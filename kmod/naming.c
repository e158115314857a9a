// SPDX-License-Identifier: GPL-2.0
/*
 * Tags threads by their names, or each by its name and TID.
 */
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "bytid.h"
#include "compat/compat.h"
#include "hooked.h"
#include "later.h"
#include "mtag.h"
#include "name.h"
#include "naming.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "thread.h"
#include "tree.h"

/**
 * struct naming - a thread that will be tagged by its name
 * @later:	work of the task that named it
 * @task:	the thread; reference
 * @mm:		mm of @task; only compared, no reference
 * @name:	name as it was given; becomes a component of a tag name later
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

static void tag_by_name(struct mtag_space *s, struct naming *n)
{
	size_t len = mtag_name_component(n->name);
	u32 parent = READ_ONCE(s->default_tag);
	int tag = len ? mtag_tree_make(s, parent, n->name, len, MTAG_GFP) : -EINVAL;

	if (tag >= 0 && mtag_thread_set(s, n->task, tag, false) == -ENOMEM)
		mtag_space_add_lost(s, 1);
}

static void naming_run(struct mtag_later *later, bool runs)
{
	struct naming *n = container_of(later, struct naming, later);
	struct mtag_space *s = NULL;

	/* A task only names threads of its own process. n->mm is only compared. */
	if (runs && current->mm == n->mm)
		s = mtag_space_mine();
	if (s) {
		if (READ_ONCE(s->naming) == MTAG_NAMING_TID)
			mtag_bytid_named(s, n->task);
		else if (READ_ONCE(s->naming) == MTAG_NAMING_THREAD)
			tag_by_name(s, n);
		mtag_space_put(s);
	}
	naming_free(n);
}

/*
 * Does not sleep: exec names a task under rcu_read_lock(), which preemptible() does not see. Nobody
 * is charged, as a memory cgroup at its limit would refuse what may not reclaim: the caller frees
 * it when its call returns.
 */
static struct naming *naming_alloc(struct task_struct *task, const char *name)
{
	struct naming *n = NULL;

	if (mtag_lock_begin()) {
		n = kmalloc(sizeof(*n), GFP_NOWAIT | __GFP_NOWARN);
		mtag_lock_end();
	}
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
		mtag_space_add_lost(s, 1);
	else if (!mtag_later(current, &n->later, naming_run))
		naming_free(n);
}

/* __set_task_comm(task, name, exec): a thread is named by itself, by another thread or by exec */
MTAG_HOOK_FUNC(mtag_naming_rename)
{
	struct task_struct *task = (struct task_struct *)mtag_arg0(fregs);
	struct mtag_space *s;
	u8 naming;

	if (!current->mm || READ_ONCE(task->mm) != current->mm)
		return;
	s = mtag_space_mine();
	if (!s)
		return;
	naming = READ_ONCE(s->naming);
	if ((naming == MTAG_NAMING_THREAD || naming == MTAG_NAMING_TID) && !mtag_space_parked(s))
		name_thread(s, task, (const char *)mtag_arg1(fregs));
	mtag_space_put(s);
}

/**
 * mtag_naming_born() - make a tag for a new thread, if each is to have its own
 * @s:		space of the thread
 * @task:	has not run yet
 * @gfp:	allocation flags of the caller's context; 0: nothing may be allocated
 *
 * A vfork child borrows the memory of its creator, and keeps the creator's tag. So does a forked
 * child of a thread with a word: its own copy of the word takes over.
 * Context: as @gfp says.
 * Return: the tag, or 0.
 */
u32 mtag_naming_born(struct mtag_space *s, struct task_struct *task, gfp_t gfp)
{
	int ret;

	if (READ_ONCE(s->naming) != MTAG_NAMING_TID)
		return 0;
	if (task->mm == current->mm ? task->tgid != current->tgid : !!s->fork.user)
		return 0;
	ret = gfp ? mtag_bytid_make(s, task, gfp) : -EBUSY;
	if (ret == -EBUSY)
		mtag_space_add_lost(s, 1);
	return max(ret, 0);
}
