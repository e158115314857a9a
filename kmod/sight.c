// SPDX-License-Identifier: GPL-2.0
/*
 * Walks the page tables of a process for what each tag has beneath each stack. Only done when
 * somebody asks; nothing is kept but what was ever touched, touched.c.
 *
 * The sums over the stacks of a tag are its anonymous memory and its swap, since each page is
 * counted for the tag that it is charged to.
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "ksm.h"
#include "leaf.h"
#include "memory.h"
#include "mtag.h"
#include "sight.h"
#include "space.h"
#include "stack.h"
#include "stacks.h"
#include "stackset.h"
#include "state.h"
#include "touched.h"
#include "visit.h"
#include "whose.h"

/* How far the walk goes before there is room again: each page may be a new entry. */
#define STRIDE		PMD_SIZE
#define STRIDE_PAGES	(STRIDE / PAGE_SIZE)
/* A walk takes less than that many units of mtag_leaf.born. */
#define WALK_UNITS	256

struct sight_walker {
	struct mtag_visitor v;
	struct mtag_sight *sight;
};

/*
 * The entry of a tag and a stack, or the free one that they would have. There is room. A process
 * chooses these, but cannot know which of them meet.
 */
static struct mtag_seen *find_seen(struct mtag_sight *sight, u32 tag, u32 stack)
{
	u64 hash = mtag_stack_mix((u64)stack << 16 | tag);
	unsigned int i = hash >> (64 - ilog2(sight->room));
	struct mtag_seen *e;

	for (;; i = (i + 1) & (sight->room - 1)) {
		e = &sight->seen[i];
		if (!e->used || (e->tag == tag && e->stack == stack))
			return e;
	}
}

/* The entry of a tag and a stack, which may be new. There is room. */
static struct mtag_seen *entry_of(struct mtag_sight *sight, u32 tag, u32 stack)
{
	struct mtag_seen *e = &sight->seen[sight->last];

	if (e->used && e->tag == tag && e->stack == stack)
		return e;
	e = find_seen(sight, tag, stack);
	if (!e->used) {
		*e = (struct mtag_seen){ .stack = stack, .tag = tag, .used = true };
		sight->nr++;
	}
	sight->last = e - sight->seen;
	return e;
}

static bool seen_is_old(const struct mtag_sight *sight, struct mtag_leaf leaf)
{
	u16 age = sight->now - leaf.born;

	/* Touched since the walk began. */
	if (age > U16_MAX - WALK_UNITS)
		age = 0;
	return (u32)age * MTAG_BORN_SECONDS >= sight->older;
}

/*
 * How a page of @s was first touched. If the leaf's stack was never taken for this process, the
 * leaf is left over from the previous user of the frame or swap slot: leaves are written only where
 * stacks are taken, and older pages reach page tables in many ways. Treat such a page, like one
 * without a leaf, as touched before stacks were taken.
 */
static struct mtag_leaf leaf_of(const struct mtag_space *s, struct mtag_leaf leaf)
{
	const struct mtag_stackset *own = s->stacks.touched->own;
	bool known = leaf.stack == MTAG_LEAF_NONE ? leaf.born != 0 :
		     leaf.stack < MTAG_LEAF_FIRST || mtag_stackset_has(own, leaf.stack);

	if (known)
		return leaf;
	return (struct mtag_leaf){ .stack = MTAG_LEAF_NONE, .born = own->born };
}

static void sight_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	struct mtag_sight *sight = container_of(v, struct sight_walker, v)->sight;
	struct mtag_leaf leaf;
	u32 tag;
	int i;

	if (!e->page) {
		mtag_whose_slot(v->s, e->swap, &tag);
		leaf = leaf_of(v->s, mtag_leaf_slot(e->swap));
		if (seen_is_old(sight, leaf))
			entry_of(sight, tag, leaf.stack)->swap++;
		return;
	}
	if (!PageAnon(e->page))
		return;
	for (i = 0; i < e->nr; i++) {
		leaf = leaf_of(v->s, mtag_ksm_leaf(e->page + i));
		if (seen_is_old(sight, leaf))
			entry_of(sight, mtag_whose_now(v->s, e, i), leaf.stack)->anon++;
	}
}

static size_t seen_bytes(unsigned int room)
{
	return room * sizeof(struct mtag_seen);
}

static struct mtag_seen *seen_alloc(unsigned int room)
{
	/* A reader may hold many dumps, and for long. */
	return mtag_memory_alloc(seen_bytes(room), MTAG_GFP | __GFP_ZERO);
}

static void seen_free(struct mtag_seen *seen, unsigned int room)
{
	mtag_memory_free(seen, seen_bytes(room));
}

/* Makes room for one stride, at least as much as is in use. */
static int sight_make_room(struct mtag_visitor *v)
{
	struct mtag_sight *sight = container_of(v, struct sight_walker, v)->sight;
	struct mtag_seen *old = sight->seen, *e;
	unsigned int old_room = sight->room;

	if (2 * (sight->nr + STRIDE_PAGES) <= sight->room)
		return 0;
	sight->room = roundup_pow_of_two(4 * (sight->nr + STRIDE_PAGES));
	sight->seen = seen_alloc(sight->room);
	if (!sight->seen) {
		sight->room = old_room;
		sight->seen = old;
		return -ENOMEM;
	}
	sight->nr = 0;
	sight->last = 0;
	for (e = old; e < old + old_room; e++) {
		if (e->used)
			*entry_of(sight, e->tag, e->stack) = *e;
		if ((e - old) % STRIDE_PAGES == 0)
			cond_resched();
	}
	seen_free(old, old_room);
	return 0;
}

/* ---- what was ever touched ---- */

/* Counters up to @end; with an age, only of stacks that have old pages. There is room. */
static void add_touches(struct mtag_sight *sight, const struct mtag_touches *c,
			const struct mtag_touches *end)
{
	struct mtag_seen *e;
	u64 key;

	for (; c < end; c++) {
		key = READ_ONCE(c->key);
		if (!key)
			continue;
		e = find_seen(sight, mtag_touched_tag(key), mtag_touched_stack(key));
		if (e->used || !sight->older)
			entry_of(sight, mtag_touched_tag(key), mtag_touched_stack(key))->touched +=
				atomic64_read(&c->pages);
	}
}

/* Context: what is counted of @s stays, as it does. */
static int touched_read(struct mtag_visitor *v)
{
	struct mtag_sight *sight = container_of(v, struct sight_walker, v)->sight;
	const struct mtag_touched_table *t;
	unsigned int i;
	int err = 0;

	for (t = mtag_touched_tables(v->s->stacks.touched); t && !err; t = t->older)
		for (i = 0; i < t->room && !err; i += STRIDE_PAGES) {
			err = sight_make_room(v);
			if (!err)
				add_touches(sight, t->counters + i,
					    t->counters + min_t(unsigned int, t->room,
								i + STRIDE_PAGES));
			cond_resched();
		}
	return err;
}

/* ---- reading ---- */

/* Ranges and owners stay while build_lock is held, except of pages that come and go. */
static int sight_read(struct mtag_space *s, struct mm_struct *mm, struct mtag_sight *sight)
{
	struct sight_walker w = {
		.v = { .visit = sight_visit, .s = s },
		.sight = sight,
	};
	int err = -ESRCH;

	if (mutex_lock_killable(&s->tree->build_lock))
		return -EINTR;
	/* As long as the space is hashed, there are leaves. */
	if (s->live && READ_ONCE(s->mm) == mm)
		err = mtag_space_stacks(s) ? mtag_visit_mm(&w.v, mm, STRIDE, sight_make_room) :
					     -ENODATA;
	if (!err)
		err = touched_read(&w.v);
	mutex_unlock(&s->tree->build_lock);
	return err;
}

/* Frees @sight, which may be NULL. Context: may sleep. */
void mtag_sight_put(struct mtag_sight *sight)
{
	if (!sight)
		return;
	seen_free(sight->seen, sight->room);
	kfree(sight);
}

/**
 * mtag_sight_get() - walk the page tables of a space with stacks: O(RSS)
 * @s:		space
 * @older:	count only pages first touched at least so many seconds ago
 *
 * Context: may sleep; no lock of the space or its mm held. The caller must mtag_sight_put() it.
 * Return: -ENOMEM; -EINTR if killed; -ENODATA if no stacks are taken; -ESRCH if the process has
 * ended or is no longer tracked.
 */
struct mtag_sight *mtag_sight_get(struct mtag_space *s, u32 older)
{
	struct mm_struct *mm = mtag_space_mmget(s);
	struct mtag_sight *sight;
	int err = -ENOMEM;

	if (!mm)
		return ERR_PTR(-ESRCH);
	sight = kzalloc(sizeof(*sight), MTAG_GFP);
	if (sight) {
		sight->older = older;
		sight->now = mtag_leaf_now();
		err = sight_read(s, mm, sight);
	}
	/* This may be the last reference: exit_mmap() must not run under build_lock. */
	mmput(mm);
	if (!err)
		return sight;
	mtag_sight_put(sight);
	return ERR_PTR(err);
}
