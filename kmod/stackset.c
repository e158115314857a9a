// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of stacks: what a reader of a process may learn.
 *
 * One has the stacks whose numbers a process was told. A reader that may read its memory finds
 * these numbers there, and may learn which stacks they are; of a number that the process made up
 * nobody learns anything. The other has those that were taken for it, see touched.c.
 *
 * Numbers are ids of stack.c, which stay as long as any process is tracked: so does what they mean
 * to a process, and to its forked children.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include "memory.h"
#include "stackset.h"

static size_t bytes_of(u32 room)
{
	return offsetof(struct mtag_stackset, bits) + BITS_TO_LONGS(room) * sizeof(unsigned long);
}

/**
 * mtag_stackset_alloc() - an empty set
 * @room:	ids are below it
 * @gfp:	allocation flags of the caller's context
 *
 * Return: a set for mtag_stackset_put(), or NULL.
 */
struct mtag_stackset *mtag_stackset_alloc(u32 room, gfp_t gfp)
{
	struct mtag_stackset *set = mtag_memory_alloc(bytes_of(room), gfp | __GFP_ZERO);

	if (!set)
		return NULL;
	set->room = room;
	kref_init(&set->ref);
	return set;
}

/* The set as it is now; likewise. Context: @from stays. */
struct mtag_stackset *mtag_stackset_copy(const struct mtag_stackset *from, gfp_t gfp)
{
	struct mtag_stackset *set = mtag_stackset_alloc(from->room, gfp);

	if (set)
		memcpy(set->bits, from->bits, BITS_TO_LONGS(from->room) * sizeof(unsigned long));
	return set;
}

/* The same set, for another that refers to it. Context: any. */
struct mtag_stackset *mtag_stackset_get(struct mtag_stackset *set)
{
	kref_get(&set->ref);
	return set;
}

static void release_set(struct kref *ref)
{
	struct mtag_stackset *set = container_of(ref, struct mtag_stackset, ref);

	mtag_memory_free(set, bytes_of(set->room));
}

/* NULL is allowed. Context: any but NMI. */
void mtag_stackset_put(struct mtag_stackset *set)
{
	if (set)
		kref_put(&set->ref, release_set);
}
