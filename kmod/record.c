// SPDX-License-Identifier: GPL-2.0
/*
 * The table of per-task records, for tasks that have something to keep.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "memory.h"
#include "mtag.h"
#include "record.h"
#include "state.h"

#define LOOK_BATCH	64	/* threads between two chances for others to take the lock */

struct hlist_head mtag_records[1 << MTAG_RECORD_BITS];
DEFINE_RAW_SPINLOCK(mtag_record_lock);

static struct hlist_head *record_bucket(const struct task_struct *task)
{
	return &mtag_records[hash_ptr((void *)task, MTAG_RECORD_BITS)];
}

/**
 * mtag_record_find() - the record of a task
 * @task:	only compared
 *
 * Context: RCU or mtag_record_lock; the task does not end meanwhile.
 * Return: NULL if there is none.
 */
__noendbr struct mtag_thread *mtag_record_find(const struct task_struct *task)
{
	struct mtag_thread *t;

	hlist_for_each_entry_rcu(t, record_bucket(task), node, true)
		if (t->task == task)
			return t;
	return NULL;
}

/* False if @task has no record. If true, look it up under the lock. Context: any. */
bool mtag_record_may_have(const struct task_struct *task)
{
	return !hlist_empty(record_bucket(task));
}

/**
 * mtag_record_new() - allocate a record of @task that is not in the table yet
 * @task:	only compared
 * @gfp:	allocation flags of the caller's context
 *
 * The caller has charged it, see mtag_memory_charge(). Context: as @gfp says.
 * Return: NULL if there is no memory; the charge has been undone then.
 */
struct mtag_thread *mtag_record_new(struct task_struct *task, gfp_t gfp)
{
	struct mtag_thread *t;

	t = kzalloc(sizeof(*t), gfp);
	if (!t) {
		mtag_memory_uncharge(sizeof(*t));
		return NULL;
	}
	t->task = task;
	t->word = &t->inherited;
	INIT_LIST_HEAD(&t->of_space);
	return t;
}

/* As mtag_record_new(), but charges the record itself; NULL also at the limit. */
struct mtag_thread *mtag_record_alloc(struct task_struct *task, gfp_t gfp)
{
	if (mtag_memory_charge(sizeof(struct mtag_thread)))
		return NULL;
	return mtag_record_new(task, gfp);
}

/*
 * Returns the record of the task of *@spare: the one in the table, or *@spare itself, which is
 * added. Context: mtag_record_lock.
 */
struct mtag_thread *mtag_record_get(struct mtag_thread **spare)
{
	struct mtag_thread *t = mtag_record_find((*spare)->task);

	lockdep_assert_held(&mtag_record_lock);
	if (!t) {
		t = *spare;
		*spare = NULL;
		hlist_add_head_rcu(&t->node, record_bucket(t->task));
	}
	return t;
}

/* Removes @t, which the caller frees after it has unlocked. Context: mtag_record_lock. */
void mtag_record_del(struct mtag_thread *t)
{
	lockdep_assert_held(&mtag_record_lock);
	hlist_del_rcu(&t->node);
}

/* Frees a record that is not in the table, or NULL. Context: any. */
void mtag_record_free(struct mtag_thread *t)
{
	if (t) {
		mtag_memory_uncharge(sizeof(*t));
		kfree_rcu(t, rcu);
	}
}

/**
 * mtag_record_uses() - call @use for each tag that a thread of a space has, other than by its word
 * @s:		space
 * @use:	called with @data and the tag
 * @data:	for @use
 *
 * The lock is let go now and then. Threads that have been seen go to the end of the list, and those
 * that enter meanwhile, or get another tag, to its front: all before the first one seen are left.
 * Context: may sleep; one caller for each space at a time.
 */
void mtag_record_uses(struct mtag_space *s, void (*use)(void *data, u32 tag), void *data)
{
	static u64 looks;	/* mtag_record_lock */
	struct mtag_thread *t;
	u64 look;
	int i;

	raw_spin_lock(&mtag_record_lock);
	look = ++looks;
	do {
		for (i = 0; i < LOOK_BATCH; i++) {
			t = list_first_entry_or_null(&s->threads, struct mtag_thread, of_space);
			if (!t || t->looked == look)
				break;
			use(data, t->inherited);
			t->looked = look;
			list_move_tail(&t->of_space, &s->threads);
		}
		raw_spin_unlock(&mtag_record_lock);
		cond_resched();
		raw_spin_lock(&mtag_record_lock);
	} while (i == LOOK_BATCH);
	raw_spin_unlock(&mtag_record_lock);
}

/**
 * mtag_record_each() - call @end for each task that has a record
 * @end:	deletes the record
 *
 * Context: may sleep; no record is added meanwhile.
 */
void mtag_record_each(void (*end)(struct task_struct *task))
{
	struct mtag_thread *t;
	int i;

	for (i = 0; i < ARRAY_SIZE(mtag_records); i++) {
		while (!hlist_empty(&mtag_records[i])) {
			t = hlist_entry(mtag_records[i].first, struct mtag_thread, node);
			end(t->task);
		}
		cond_resched();
	}
}
