// SPDX-License-Identifier: GPL-2.0
/*
 * Tag threads by their names.
 */
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
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

static void naming_run(struct mtag_later *later, bool runs)
{
	struct naming *n = container_of(later, struct naming, later);
	struct mtag_space *s = NULL;
	size_t len;
	int tag;

	/* A task only names threads of its own process. n->mm is only compared. */
	if (runs && current->mm == n->mm)
		s = mtag_space_lookup(current->mm);
	if (s) {
		len = mtag_name_component(n->name);
		tag = len ? mtag_tree_intern(s, s->default_tag, n->name, len) : -EINVAL;
		if (tag >= 0 && mtag_thread_set(s, n->task, tag) == -ENOMEM)
			mtag_space_lost(s, 1);
		mtag_space_put(s);
	}
	naming_free(n);
}

static struct naming *naming_alloc(struct task_struct *task, const char *name)
{
	struct naming *n;
	bool sleeps;
	gfp_t gfp = mtag_sleep_gfp(&sleeps);

	n = gfp ? kmalloc(sizeof(*n), gfp) : NULL;
	if (sleeps)
		mtag_sleep_end();
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
		mtag_space_lost(s, 1);
	else if (!mtag_later(current, &n->later, naming_run))
		naming_free(n);
}

/* __set_task_comm(task, name, exec): a thread is named by itself, by another thread or by exec */
MTAG_HOOK_FUNC(mtag_naming_rename)
{
	struct task_struct *task = (struct task_struct *)mtag_arg0(fregs);
	struct mtag_space *s;

	if (!current->mm || READ_ONCE(task->mm) != current->mm)
		return;
	s = mtag_space_lookup(current->mm);
	if (!s)
		return;
	if (s->by_thread && !mtag_space_parked(s))
		name_thread(s, task, (const char *)mtag_arg1(fregs));
	mtag_space_put(s);
}
