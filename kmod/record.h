/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-task records, hashed by the task; record.c. Only thread.c, thread_start.c, zap.c, bytid.c and
 * sweep.c use them, and pin.c their lock.
 */
#ifndef MTAG_RECORD_H
#define MTAG_RECORD_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <asm/ibt.h>

struct mtag_pin;

/**
 * struct mtag_thread - record of a task that has something to keep
 * @node:	in the hash by task; RCU, changed under mtag_record_lock
 * @task:	the key; holds no reference, because a hook reports the end of the task
 * @space:	space in which @word and @inherited are valid, or NULL
 * @of_space:	in space->threads while @space is set; mtag_record_lock
 * @word:	points to the tag, in a pinned page or @inherited
 * @user:	user address of the word
 * @pin:	pin of the page of @word, or NULL
 * @inherited:	the tag of a thread without a word
 * @own:	the same, if it was made for this thread alone; else 0
 * @zap:	the mm whose page tables the task is zapping; set by the task alone
 * @looked:	the last mtag_record_uses() that has seen it here; mtag_record_lock
 * @rcu:	frees it
 *
 * What changes does so under mtag_record_lock, except @zap. The task itself also reads @space,
 * @word, @user, @pin and @inherited without that lock, under RCU.
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
	u32 own;
	struct mm_struct *zap;
	u64 looked;
	struct rcu_head rcu;
};

/* Protects records, pins, and all in them; nothing is allocated or freed under it. */
extern raw_spinlock_t mtag_record_lock;

/* Hashed by hash_ptr() of the task; RCU, changed under mtag_record_lock. */
#define MTAG_RECORD_BITS	12
extern struct hlist_head mtag_records[1 << MTAG_RECORD_BITS];

__noendbr struct mtag_thread *mtag_record_find(const struct task_struct *task);
bool mtag_record_may_have(const struct task_struct *task);
struct mtag_thread *mtag_record_new(struct task_struct *task, gfp_t gfp);
struct mtag_thread *mtag_record_alloc(struct task_struct *task, gfp_t gfp);
struct mtag_thread *mtag_record_get(struct mtag_thread **spare);
void mtag_record_del(struct mtag_thread *t);
void mtag_record_free(struct mtag_thread *t);
void mtag_record_uses(struct mtag_space *s, void (*use)(void *data, u32 tag), void *data);
void mtag_record_each(void (*end)(struct task_struct *task));

#endif /* MTAG_RECORD_H */
