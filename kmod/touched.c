// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what was ever first touched beneath each stack, for each tag of a process.
 *
 * A hook finds or makes a counter without a lock. It cannot allocate, so once a table is half full,
 * the task makes a larger one on its way back to user space, before it touches the next page. New
 * keys go there; old counters stay where they are, so that whoever has found one may keep it as
 * long as the space.
 */
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include "leaf.h"
#include "memory.h"
#include "mtag.h"
#include "stack.h"
#include "stackset.h"
#include "stat.h"
#include "touched.h"

#define FEWEST	256U	/* counters of the first table: a page */
#define PROBES	32	/* a program may try to make all keys meet */

static size_t table_bytes(unsigned int room)
{
	return sizeof(struct mtag_touched_table) + room * sizeof(struct mtag_touches);
}

static struct mtag_touched_table *table_alloc(unsigned int room, gfp_t gfp)
{
	struct mtag_touched_table *table = mtag_memory_alloc(table_bytes(room), gfp | __GFP_ZERO);

	if (!table)
		return NULL;
	table->room = room;
	table->shift = 64 - ilog2(room);
	return table;
}

static void tables_free(struct mtag_touched_table *table)
{
	struct mtag_touched_table *older;

	for (; table; table = older) {
		older = table->older;
		mtag_memory_free(table, table_bytes(table->room));
	}
}

static void touched_free(struct rcu_head *rcu)
{
	struct mtag_touched *t = container_of(rcu, struct mtag_touched, rcu);

	tables_free(t->newest);
	mtag_stackset_put(t->own);
	mtag_memory_uncharge(sizeof(*t));
	kfree(t);
}

/* By RCU: @later may be taken back where nothing may sleep. mtag_tree_exit() waits for the last. */
static void touched_release(struct kref *ref)
{
	call_rcu(&container_of(ref, struct mtag_touched, ref)->rcu, touched_free);
}

/* NULL is allowed. Context: any but NMI. */
void mtag_touched_put(struct mtag_touched *t)
{
	if (t)
		kref_put(&t->ref, touched_release);
}

/**
 * mtag_touched_alloc() - counters for a process whose stacks are taken
 * @user:	the user to charge for it; NULL without memory
 * @own:	the stacks of the process that it is forked from; NULL: it begins without any
 * @gfp:	allocation flags of the caller's context
 *
 * Relatives share the set: what a parent touches while it forks is in its child as well. The set
 * of an executed program is another, since that may be another user's.
 *
 * Return: counters with one reference, or NULL.
 */
struct mtag_touched *mtag_touched_alloc(struct mtag_user *user, struct mtag_stackset *own,
					gfp_t gfp)
{
	struct mtag_touched *t;

	if (!user || mtag_memory_charge(sizeof(*t)))
		return NULL;
	t = kzalloc(sizeof(*t), gfp);
	if (!t)
		goto uncharge;
	t->newest = table_alloc(FEWEST, gfp);
	if (!t->newest)
		goto free;
	t->own = own ? mtag_stackset_get(own) : mtag_stackset_alloc(mtag_stack_room(), gfp);
	if (!t->own)
		goto free_tables;
	if (!own)
		t->own->born = mtag_leaf_now();
	t->user = user;
	kref_init(&t->ref);
	return t;
free_tables:
	tables_free(t->newest);
free:
	kfree(t);
uncharge:
	mtag_memory_uncharge(sizeof(*t));
	return NULL;
}

/* ---- growth ---- */

/* Twice as many counters as there may be stacks: some have several tags. */
static unsigned int most_counters(void)
{
	unsigned int stacks = clamp(READ_ONCE(mtag_max_stacks), FEWEST / 2, 1U << 24);

	return 2 * roundup_pow_of_two(stacks);
}

static void grow_counters(struct mtag_touched *t)
{
	struct mtag_touched_table *table = table_alloc(2 * t->newest->room, MTAG_GFP);

	if (!table) {
		WRITE_ONCE(t->failed, jiffies | 1);
		return;
	}
	table->older = t->newest;
	/* Pairs with mtag_touched_tables(). */
	smp_store_release(&t->newest, table);
}

static void grow_later(struct mtag_later *later, bool runs)
{
	struct mtag_touched *t = container_of(later, struct mtag_touched, later);

	if (runs)
		grow_counters(t);
	/* Pairs with the cmpxchg() of whoever grows it next. */
	smp_store_release(&t->growing, 0);
	mtag_touched_put(t);
}

/*
 * Does the current task return to user space at once? A system call may wait for long before that;
 * of a page fault the number of the call is not there.
 */
static bool task_returns(void)
{
	return !(current->flags & (PF_KTHREAD | PF_IO_WORKER | PF_EXITING)) &&
	       (long)task_pt_regs(current)->orig_ax < 0;
}

static void grow_soon(struct mtag_touched *t, unsigned int room)
{
	unsigned long failed = READ_ONCE(t->failed);

	if (room >= most_counters() || !task_returns() || READ_ONCE(t->growing) ||
	    (failed && time_before(jiffies, failed + HZ)))
		return;
	if (cmpxchg(&t->growing, 0, 1))
		return;
	kref_get(&t->ref);
	if (!mtag_later(current, &t->later, grow_later))
		grow_later(&t->later, false);
}

/* ---- counters ---- */

/**
 * mtag_touched_probe() - find a counter, or make it
 * @t:		counters of the process
 * @table:	the newest
 * @key:	of the counter
 * @i:		index that its hash says
 *
 * Context and return: as for mtag_touched_counter().
 */
__noendbr atomic64_t *mtag_touched_probe(struct mtag_touched *t, struct mtag_touched_table *table,
					 u64 key, unsigned int i)
{
	struct mtag_touches *c;
	unsigned int n;
	u64 has;

	for (n = 0; n < PROBES; n++, i++) {
		c = &table->counters[i & (table->room - 1)];
		has = READ_ONCE(c->key);
		if (!has) {
			has = cmpxchg64(&c->key, 0, key);
			if (!has && 2 * atomic_inc_return(&table->used) >= table->room)
				grow_soon(t, table->room);
		}
		if (!has || has == key)
			return &c->pages;
	}
	grow_soon(t, table->room);
	return &t->uncounted;
}

/**
 * mtag_touched_add() - count first touches
 * @t:		counters of the process
 * @tag:	id
 * @stack:	its id, or MTAG_LEAF_NONE
 * @pages:	number of pages; negative if they turn out to be none
 *
 * Context: any but interrupts; RCU.
 */
void __noendbr mtag_touched_add(struct mtag_touched *t, u32 tag, u32 stack, s64 pages)
{
	atomic64_t *counter = &t->uncounted;

	if (stack != MTAG_LEAF_NONE)
		counter = mtag_touched_counter(t, tag, stack);
	atomic64_add(pages, counter);
}

/* Counts a stack for which there was no room: of @t, too, unless that is NULL. Context: any. */
void mtag_touched_lost(struct mtag_touched *t)
{
	if (t)
		atomic64_inc(&t->lost);
	atomic64_inc(&mtag_stat.stack_lost);
}

/**
 * mtag_touched_give() - what a tag has touched counts as another's from now on
 * @t:		counters of the process
 * @from:	id, by which nothing is touched meanwhile
 * @to:		id
 *
 * Context: any but interrupts; RCU.
 */
void mtag_touched_give(struct mtag_touched *t, u32 from, u32 to)
{
	struct mtag_touched_table *table;
	struct mtag_touches *c;
	s64 pages;

	for (table = mtag_touched_tables(t); table; table = table->older)
		for (c = table->counters; c < table->counters + table->room; c++) {
			if (mtag_touched_tag(READ_ONCE(c->key)) != from)
				continue;
			pages = atomic64_xchg(&c->pages, 0);
			if (pages)
				mtag_touched_add(t, to, mtag_touched_stack(c->key), pages);
		}
}
