/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept per task, by the task; record.c. Only thread.c and zap.c use it.
 */
#ifndef MTAG_RECORD_H
#define MTAG_RECORD_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

struct mtag_pin;

/**
 * struct mtag_thread - what is kept per task, when there is something to keep
 * @node:	in the hash by task; RCU, changed under mtag_record_lock
 * @task:	the key; no reference, as its end is told
 * @space:	in which @word and @inherited mean something; NULL when that is gone
 * @of_space:	in space->threads while there is a @space; mtag_record_lock
 * @word:	the tag, in a pinned page or @inherited
 * @user:	where the thread knows its word
 * @pin:	of @word, or NULL
 * @inherited:	the tag of a thread that has no word
 * @zap:	the mm whose page tables the task is zapping
 * @rcu:	frees it
 */
struct mtag_thread {
	struct hlist_node node;
	struct task_struct *task;
	struct mtag_space *space;
	struct list_head of_space;
	const u32 *word;
	unsigned long user;
	struct mtag_pin *pin;
	u32 inherited;
	struct mm_struct *zap;
	struct rcu_head rcu;
};

/* Of records, pins, and all in them; nothing is allocated or freed under it. */
extern raw_spinlock_t mtag_record_lock;

/* By hash_ptr() of the task; RCU, changed under mtag_record_lock. */
#define MTAG_RECORD_BITS	12
extern struct hlist_head mtag_records[1 << MTAG_RECORD_BITS];

struct mtag_thread *mtag_record_find(const struct task_struct *task);
bool mtag_record_may_have(const struct task_struct *task);
struct mtag_thread *mtag_record_new(struct task_struct *task, gfp_t gfp);
struct mtag_thread *mtag_record_alloc(struct task_struct *task, gfp_t gfp);
struct mtag_thread *mtag_record_get(struct mtag_thread **spare);
void mtag_record_del(struct mtag_thread *t);
void mtag_record_free(struct mtag_thread *t);
void mtag_record_each(void (*end)(struct task_struct *task));

#endif /* MTAG_RECORD_H */
