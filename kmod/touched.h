/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much was ever first touched beneath each stack, for each tag of a process; touched.c.
 *
 * These counters only grow: how much is still there is counted by a walk, sight.c.
 */
#ifndef MTAG_TOUCHED_H
#define MTAG_TOUCHED_H

#include <linux/atomic.h>
#include <linux/gfp_types.h>
#include <linux/hash.h>
#include <linux/kref.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <asm/ibt.h>
#include "later.h"

struct mtag_stackset;
struct mtag_user;

/**
 * struct mtag_touches - what a tag has ever touched beneath a stack
 * @key:	the stack's id and, in the lower 16 bits, the tag; 0: not in use. Set once, by
 *		cmpxchg()
 * @pages:	first touches; atomic
 */
struct mtag_touches {
	u64 key;
	atomic64_t pages;
};

/**
 * struct mtag_touched_table - a hash of counters, by key
 * @older:	a smaller one, which is full enough; or NULL. It may have the same keys: what counts
 *		is the sum
 * @room:	number of counters, a power of 2
 * @shift:	of a product of 64 bits, for an index
 * @used:	counters in use
 * @counters:	each where its hash says, or after that
 *
 * @older, @room and @shift are constant once the table is in use.
 */
struct mtag_touched_table {
	struct mtag_touched_table *older;
	unsigned int room;
	unsigned int shift;
	atomic_t used;
	struct mtag_touches counters[];
};

/**
 * struct mtag_touched - what is counted of the stacks of a process
 * @user:	whose share of all stacks and images it uses; mmap_lock for writing, or constant
 *		while there is none
 * @own:	the stacks that were taken for the process, and for those that were forked from it
 *		or that it was forked from; constant. A page of it with the leaf of another stack
 *		has that from an earlier use of its frame
 * @newest:	the table for new keys; replaced by a task that has @growing
 * @lost:	first touches whose stack found no room
 * @uncounted:	pages first touched without a stack, or when there was no room for its counter
 * @growing:	0 or 1: somebody makes a larger table; by cmpxchg()
 * @failed:	when that failed last, in jiffies; 0: never. Only a hint
 * @later:	makes it; whoever has @growing
 * @ref:	one of the space, and one of @later
 * @rcu:	frees it
 */
struct mtag_touched {
	struct mtag_user *user;
	struct mtag_stackset *own;
	struct mtag_touched_table *newest;
	atomic64_t lost;
	atomic64_t uncounted;
	unsigned int growing;
	unsigned long failed;
	struct mtag_later later;
	struct kref ref;
	struct rcu_head rcu;
};

struct mtag_touched *mtag_touched_alloc(struct mtag_user *user, struct mtag_stackset *own,
					gfp_t gfp);
void mtag_touched_put(struct mtag_touched *t);
__noendbr atomic64_t *mtag_touched_probe(struct mtag_touched *t, struct mtag_touched_table *table,
					 u64 key, unsigned int i);
void __noendbr mtag_touched_add(struct mtag_touched *t, u32 tag, u32 stack, s64 pages);
void mtag_touched_lost(struct mtag_touched *t);
void mtag_touched_give(struct mtag_touched *t, u32 from, u32 to);

/* The newest table; the others follow from it. They stay as long as @t. Context: any. */
static inline struct mtag_touched_table *mtag_touched_tables(const struct mtag_touched *t)
{
	/* Pairs with grow_counters(): a table before the pointer to it. */
	return smp_load_acquire(&t->newest);
}

/**
 * mtag_touched_counter() - the counter of a tag's first touches beneath a stack
 * @t:		counters of the process
 * @tag:	id
 * @stack:	its id, not MTAG_LEAF_NONE
 *
 * Context: any but interrupts; RCU.
 * Return: a counter, which stays as long as @t; @t->uncounted if none is free.
 */
static inline atomic64_t *mtag_touched_counter(struct mtag_touched *t, u32 tag, u32 stack)
{
	struct mtag_touched_table *table = mtag_touched_tables(t);
	u64 key = (u64)stack << 16 | tag;
	unsigned int i = key * GOLDEN_RATIO_64 >> table->shift;

	if (likely(READ_ONCE(table->counters[i].key) == key))
		return &table->counters[i].pages;
	return mtag_touched_probe(t, table, key, i);
}

static inline u32 mtag_touched_tag(u64 key)
{
	return (u16)key;
}

static inline u32 mtag_touched_stack(u64 key)
{
	return key >> 16;
}

#endif /* MTAG_TOUCHED_H */
