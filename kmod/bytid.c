// SPDX-License-Identifier: GPL-2.0
/*
 * Tags of single threads, NAME-TID: made at the thread's start, renamed with the thread, and used
 * for another thread once the first has ended and nothing belongs to the tag any longer: sweep.c.
 */
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "account.h"
#include "bytid.h"
#include "limit.h"
#include "mtag.h"
#include "name.h"
#include "record.h"
#include "space.h"
#include "state.h"
#include "sweep.h"
#include "thread.h"
#include "touched.h"
#include "tree.h"

#define RENAMES		16	/* attempts while others go on renaming the thread */

static u32 own_of(const struct task_struct *task, struct mtag_space **s, bool take)
{
	struct mtag_thread *t;
	u32 own = 0;

	if (!mtag_record_may_have(task))
		return 0;
	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(task);
	if (t && t->own) {
		own = t->own;
		/* A space that ends takes its threads out first. */
		*s = mtag_space_get(t->space);
		if (take)
			WRITE_ONCE(t->own, 0);
	}
	raw_spin_unlock(&mtag_record_lock);
	return own;
}

/**
 * mtag_bytid_take() - take from a thread the tag that was made for it alone
 * @task:	the thread; the caller keeps it
 * @s:		filled with its space, with a reference, unless the answer is 0
 *
 * The caller alone must then report the tag with mtag_sweep_ended().
 * Context: any but interrupts.
 * Return: 0 if there is none, or the thread has a word now.
 */
u32 mtag_bytid_take(const struct task_struct *task, struct mtag_space **s)
{
	return own_of(task, s, true);
}

/**
 * mtag_bytid_keep() - a program is told the number of a tag, and may store it anywhere
 * @tree:	tree of the tag
 * @tag:	current tag of the calling thread
 *
 * No other thread gets that tag any more. Context: may sleep.
 */
void mtag_bytid_keep(struct mtag_tree *tree, u32 tag)
{
	struct mtag_node *node;
	bool kept;

	rcu_read_lock();
	node = mtag_tree_node(tree, tag);
	kept = !node || READ_ONCE(node->kept);
	rcu_read_unlock();
	/* Programs ask often. */
	if (kept)
		return;
	mutex_lock(&tree->lock);
	WRITE_ONCE(mtag_tree_node(tree, tag)->kept, true);
	mutex_unlock(&tree->lock);
}

/* ---- making and renaming ---- */

/* Writes the name of the tag of @task. Returns its length; 0 if the task has ended. */
static size_t name_of(struct task_struct *task, char name[MTAG_NAME_MAX + 1])
{
	char comm[TASK_COMM_LEN];
	pid_t tid = 0;

	rcu_read_lock();
	if (pid_alive(task))
		tid = task_pid_nr_ns(task, task_active_pid_ns(task));
	rcu_read_unlock();
	if (!tid)
		return 0;
	task_lock(task);
	strscpy(comm, task->comm, sizeof(comm));
	task_unlock(task);
	snprintf(name, MTAG_NAME_MAX + 1, "%s-%d", comm, tid);
	return mtag_name_component(name);
}

/* There may be many spaces. Context: as @gfp says. */
static void pause_loop(gfp_t gfp)
{
	if (gfpflags_allow_blocking(gfp))
		cond_resched();
}

/*
 * Finds a free tag with a higher id than @parent, as the tags below another have. Context:
 * tree->lock. Return: its node, or NULL.
 */
static struct mtag_node *free_tag(struct mtag_tree *tree, u32 parent, gfp_t gfp)
{
	const struct mtag_accounts *acc;
	struct mtag_node *node;
	struct mtag_space *s;
	unsigned long tag = parent + 1;
	bool idle;

	lockdep_assert_held(&tree->lock);
	while ((node = xa_find(&tree->nodes, &tag, MTAG_ID_MAX, MTAG_NODE_FREE))) {
		idle = !READ_ONCE(node->kept);
		/* Meanwhile a program may have made up the number, or watch it. */
		list_for_each_entry(s, &tree->spaces, sibling) {
			acc = rcu_dereference_protected(s->accounts, true);
			idle = idle && !mtag_account_owns(acc, tag) && !mtag_limit_watched(s, tag);
			pause_loop(gfp);
		}
		if (idle)
			return node;
		xa_clear_mark(&tree->nodes, tag, MTAG_NODE_FREE);
	}
	return NULL;
}

/* A thread has the tag: another of that name and TID, or any that gets a free one. */
static void revive_tag(struct mtag_tree *tree, u32 tag)
{
	xa_lock(&tree->nodes);
	__xa_clear_mark(&tree->nodes, tag, MTAG_NODE_FREE);
	__xa_clear_mark(&tree->nodes, tag, MTAG_NODE_SWEPT);
	mtag_sweep_unmark(tree, tag);
	xa_unlock(&tree->nodes);
}

/*
 * Finds the tag of that name, or gives a free one the name. Context: tree->lock. Return: its id;
 * -ENOENT if there is none; -ENOMEM.
 */
static int reuse_tag(struct mtag_space *own, u32 parent, const char *name, size_t len, gfp_t gfp)
{
	struct mtag_tree *tree = own->tree;
	struct mtag_touched *touched;
	struct mtag_node *node;
	struct mtag_space *s;
	u32 above;

	lockdep_assert_held(&tree->lock);
	node = mtag_tree_find(tree, parent, name, len);
	if (node) {
		revive_tag(tree, node->id);
		mtag_tree_know(own, node->id);
		return node->id;
	}
	node = free_tag(tree, parent, gfp);
	if (!node)
		return -ENOENT;
	/* The default tag may have changed: the new parent need not be the old one. */
	above = node->parent;
	node = mtag_tree_replace(tree, node, parent, name, len, gfp);
	if (IS_ERR(node))
		return PTR_ERR(node);
	revive_tag(tree, node->id);
	list_for_each_entry(s, &tree->spaces, sibling) {
		mtag_account_give(s, node->id, above);
		mtag_calls_give(s, node->id, above);
		rcu_read_lock();
		/*
		 * Those of a parked space, too: its stacks may be taken again. Pairs with
		 * begin_stacks().
		 */
		touched = smp_load_acquire(&s->stacks.touched);
		if (touched)
			mtag_touched_give(touched, node->id, above);
		rcu_read_unlock();
		pause_loop(gfp);
	}
	mtag_tree_know(own, node->id);
	return node->id;
}

/**
 * mtag_bytid_make() - make a tag for a thread alone
 * @s:		space of the thread
 * @task:	the thread; the caller has a reference
 * @gfp:	allocation flags of the caller's context
 *
 * Return: the tag, or an error as mtag_tree_make(); -ESRCH if the thread has ended.
 */
int mtag_bytid_make(struct mtag_space *s, struct task_struct *task, gfp_t gfp)
{
	u32 parent = READ_ONCE(s->default_tag);
	char name[MTAG_NAME_MAX + 1];
	size_t len = name_of(task, name);
	int ret;

	if (!len)
		return -ESRCH;
	if (!mtag_tree_lock(s->tree, gfp))
		return -EBUSY;
	ret = reuse_tag(s, parent, name, len, gfp);
	mutex_unlock(&s->tree->lock);
	return ret < 0 ? mtag_tree_make(s, parent, name, len, gfp) : ret;
}

/* Context: tree->lock. Return: 0; -EEXIST if another tag has the name; -ENOMEM. */
static int rename_tag(struct mtag_tree *tree, u32 tag, const char *name, size_t len)
{
	struct mtag_node *old = mtag_tree_node(tree, tag), *node;

	lockdep_assert_held(&tree->lock);
	node = mtag_tree_find(tree, old->parent, name, len);
	if (node)
		return node == old ? 0 : -EEXIST;
	return mtag_tree_rename(tree, old, name, len, MTAG_GFP);
}

/* Is @tag still the own tag of @task in @s, as before tree->lock was taken? */
static bool still_own(const struct task_struct *task, const struct mtag_space *s, u32 tag)
{
	struct mtag_thread *t;
	bool still;

	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(task);
	still = t && t->space == s && t->own == tag;
	raw_spin_unlock(&mtag_record_lock);
	return still;
}

static bool has_word(const struct task_struct *task)
{
	struct mtag_thread *t;
	bool has;

	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(task);
	has = t && t->pin;
	raw_spin_unlock(&mtag_record_lock);
	return has;
}

/* Gives the thread a tag of its own, in place of the one it may have. Return: 0 or an error. */
static int give_tag(struct mtag_space *s, struct task_struct *task)
{
	int tag = mtag_bytid_make(s, task, MTAG_GFP), ret;

	if (tag < 0)
		return tag;
	ret = mtag_thread_set(s, task, tag, true);
	if (ret == -ENOMEM)
		mtag_space_add_lost(s, 1);
	/* The tag that nobody has now: the new one, or the one before. */
	if (ret < 0)
		mtag_sweep_ended(s, tag);
	else if (ret && ret != tag)
		mtag_sweep_ended(s, ret);
	return min(ret, 0);
}

/*
 * One attempt to give the tag of the thread its name; @name is filled with that name. Return: 0;
 * -EAGAIN if the thread has another tag by now; or an error, and another attempt would not help.
 */
static int follow_name(struct mtag_space *s, struct task_struct *task, char name[MTAG_NAME_MAX + 1])
{
	struct mtag_space *of;
	u32 tag = own_of(task, &of, false);
	size_t len = name_of(task, name);
	int ret = 0;

	if (!tag)
		return len && !has_word(task) ? give_tag(s, task) : 0;
	if (len) {
		mutex_lock(&of->tree->lock);
		/* The thread may have ended since, and another one may have its tag by now. */
		ret = still_own(task, of, tag) ? rename_tag(of->tree, tag, name, len) : -EAGAIN;
		mutex_unlock(&of->tree->lock);
	}
	mtag_space_put(of);
	/* A thread that had this name and TID has ended: they share its tag. */
	if (ret == -EEXIST)
		return give_tag(s, task);
	if (ret && ret != -EAGAIN)
		mtag_space_add_lost(s, 1);
	return ret;
}

/**
 * mtag_bytid_named() - let the tag of a thread have the thread's present name
 * @s:		space of the current process
 * @task:	one of its threads; the caller has a reference
 *
 * If there is no memory, the old name stays, and this counts as lost. Context: may sleep.
 */
void mtag_bytid_named(struct mtag_space *s, struct task_struct *task)
{
	char name[MTAG_NAME_MAX + 1] = "", now[MTAG_NAME_MAX + 1];
	int i, ret;

	/* Another task may name the thread at the same time: the later name stays. */
	for (i = 0; i < RENAMES; i++) {
		ret = follow_name(s, task, name);
		if (ret != -EAGAIN && (ret || !name_of(task, now) || !strcmp(name, now)))
			break;
	}
}
