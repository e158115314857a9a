// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of stacks: what a reader of a process may learn.
 *
 * One has the stacks whose numbers a process was told. Who may read its memory finds these numbers
 * there, and may learn which stacks they are; of a number that the process made up nobody learns
 * anything. The other has those that were taken for it, see touched.c.
 *
 * Numbers are ids of stack.c, which stay as long as any process is tracked: so does what they mean
 * to a process, and to its forked children.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "memory.h"
#include "named.h"

static size_t named_bytes(u32 room)
{
	return offsetof(struct mtag_named, bits) + BITS_TO_LONGS(room) * sizeof(unsigned long);
}

/**
 * mtag_named_alloc() - an empty set
 * @room:	ids are below it
 * @gfp:	allocation flags of the caller's context
 *
 * Return: a set for mtag_named_put(), or NULL.
 */
struct mtag_named *mtag_named_alloc(u32 room, gfp_t gfp)
{
	struct mtag_named *named;

	if (mtag_memory_charge(named_bytes(room)))
		return NULL;
	named = kvzalloc(named_bytes(room), gfp);
	if (!named) {
		mtag_memory_uncharge(named_bytes(room));
		return NULL;
	}
	named->room = room;
	kref_init(&named->ref);
	return named;
}

/* The set as it is now; likewise. Context: @from stays. */
struct mtag_named *mtag_named_copy(const struct mtag_named *from, gfp_t gfp)
{
	struct mtag_named *named = mtag_named_alloc(from->room, gfp);

	if (named)
		memcpy(named->bits, from->bits, BITS_TO_LONGS(from->room) * sizeof(unsigned long));
	return named;
}

/* The same set, for another that refers to it. Context: any. */
struct mtag_named *mtag_named_get(struct mtag_named *named)
{
	kref_get(&named->ref);
	return named;
}

static void named_release(struct kref *ref)
{
	struct mtag_named *named = container_of(ref, struct mtag_named, ref);

	mtag_memory_uncharge(named_bytes(named->room));
	kvfree(named);
}

/* NULL is allowed. Context: any but NMI. */
void mtag_named_put(struct mtag_named *named)
{
	if (named)
		kref_put(&named->ref, named_release);
}
