// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the system calls that change the address space, by tag. Few tags have any, so a tag's
 * counts are allocated when its first call comes.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>
#include "calls.h"
#include "memory.h"
#include "mtag.h"
#include "sleep.h"
#include "state.h"

/* A space without calls. It is not published yet. */
void mtag_calls_init(struct mtag_space *s)
{
	xa_init_flags(&s->calls, XA_FLAGS_ACCOUNT);
}

/* Context: @s is no longer used. May sleep. */
void mtag_calls_free(struct mtag_space *s)
{
	struct mtag_calls *c;
	unsigned long tag;

	xa_for_each(&s->calls, tag, c) {
		mtag_memory_uncharge(sizeof(*c));
		kfree(c);
	}
	xa_destroy(&s->calls);
}

/* The counts of @tag, or NULL. They stay as long as @s. */
static struct mtag_calls *calls_find(struct mtag_space *s, u32 tag)
{
	return tag == MTAG_ID_UNTAGGED ? &s->untagged_calls : xa_load(&s->calls, tag);
}

static struct mtag_calls *calls_add(struct mtag_space *s, u32 tag, gfp_t gfp)
{
	struct mtag_calls *c, *other;

	if (mtag_memory_charge(sizeof(*c)))
		return NULL;
	c = kzalloc(sizeof(*c), gfp);
	other = c ? xa_cmpxchg(&s->calls, tag, NULL, c, gfp) : NULL;
	if (c && !other)
		return c;
	mtag_memory_uncharge(sizeof(*c));
	kfree(c);
	return xa_is_err(other) ? NULL : other;
}

/* The counts of @tag. If there is no memory for them, those of untagged; that is a lost event. */
static struct mtag_calls *calls_get(struct mtag_space *s, u32 tag)
{
	struct mtag_calls *c = calls_find(s, tag);
	bool sleeps;
	gfp_t gfp;

	if (c)
		return c;
	gfp = mtag_sleep_gfp(&sleeps);
	if (gfp)
		c = calls_add(s, tag, gfp);
	if (sleeps)
		mtag_sleep_end();
	if (c)
		return c;
	mtag_space_add_lost(s, 1);
	return &s->untagged_calls;
}

/* Counts a call. Context: any but interrupts; caller holds a reference. */
void mtag_calls_count(struct mtag_space *s, u32 tag, enum mtag_call call, u64 bytes)
{
	struct mtag_calls *c = calls_get(s, tag);

	atomic64_inc(&c->nr[call]);
	atomic64_add(bytes, &c->bytes[call]);
}

/* Reads the counts of @tag; false if all are 0. Context: any; caller holds a reference. */
bool mtag_calls_read(struct mtag_space *s, u32 tag, u64 nr[MTAG_CALLS], u64 bytes[MTAG_CALLS])
{
	struct mtag_calls *c = calls_find(s, tag);
	u64 any = 0;
	int i;

	if (!c) {
		memset(nr, 0, MTAG_CALLS * sizeof(*nr));
		memset(bytes, 0, MTAG_CALLS * sizeof(*bytes));
		return false;
	}
	for (i = 0; i < MTAG_CALLS; i++) {
		nr[i] = atomic64_read(&c->nr[i]);
		bytes[i] = atomic64_read(&c->bytes[i]);
		any |= nr[i];
	}
	return any;
}

/* The first tag from @tag on that has counts, or ULONG_MAX. Context: as mtag_calls_read(). */
unsigned long mtag_calls_next(struct mtag_space *s, unsigned long tag)
{
	if (tag == MTAG_ID_UNTAGGED)
		return tag;
	return xa_find(&s->calls, &tag, ULONG_MAX, XA_PRESENT) ? tag : ULONG_MAX;
}

/**
 * mtag_calls_give() - give the calls of a tag to another, so that no sum gets lower
 * @s:		space
 * @tag:	id that no thread has, and that gets another name
 * @to:		id of the tag that was above it
 *
 * Context: tree->lock.
 */
void mtag_calls_give(struct mtag_space *s, u32 tag, u32 to)
{
	struct mtag_calls *from = calls_find(s, tag), *c;
	u64 nr[MTAG_CALLS], bytes[MTAG_CALLS];
	int i;

	lockdep_assert_held(&s->tree->lock);
	if (!from)
		return;
	if (!mtag_calls_read(s, tag, nr, bytes))
		return;
	c = calls_get(s, to);
	for (i = 0; i < MTAG_CALLS; i++) {
		atomic64_sub(nr[i], &from->nr[i]);
		atomic64_sub(bytes[i], &from->bytes[i]);
		atomic64_add(nr[i], &c->nr[i]);
		atomic64_add(bytes[i], &c->bytes[i]);
	}
}
