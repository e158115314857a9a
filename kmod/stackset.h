/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of stacks: those whose numbers a process was told, and those taken for it; stackset.c.
 */
#ifndef MTAG_STACKSET_H
#define MTAG_STACKSET_H

#include <linux/bitops.h>
#include <linux/gfp_types.h>
#include <linux/kref.h>
#include <linux/types.h>

/**
 * struct mtag_stackset - a set of stacks
 * @ref:	one for each that refers to it
 * @room:	ids are below it; constant
 * @born:	when the first process that it is of began to have stacks taken, as
 *		mtag_leaf_now() gives it; constant
 * @bits:	one for each id. Set by atomic operations, and never cleared
 */
struct mtag_stackset {
	struct kref ref;
	u32 room;
	u16 born;
	unsigned long bits[];
};

struct mtag_stackset *mtag_stackset_alloc(u32 room, gfp_t gfp);
struct mtag_stackset *mtag_stackset_copy(const struct mtag_stackset *from, gfp_t gfp);
struct mtag_stackset *mtag_stackset_get(struct mtag_stackset *set);
void mtag_stackset_put(struct mtag_stackset *set);

/* Context: any. */
static inline bool mtag_stackset_has(const struct mtag_stackset *set, u32 id)
{
	return id < set->room && test_bit(id, set->bits);
}

/* Return: false if the set has no room for it. Context: any. */
static inline bool mtag_stackset_add(struct mtag_stackset *set, u32 id)
{
	if (id >= set->room)
		return false;
	/* Most are in it already, and what is not written stays in the caches of all CPUs. */
	if (!test_bit(id, set->bits))
		set_bit(id, set->bits);
	return true;
}

/* The first id of the set from @id on; @set->room if there is none. Context: any. */
static inline u32 mtag_stackset_next(const struct mtag_stackset *set, u32 id)
{
	return find_next_bit(set->bits, set->room, id);
}

#endif /* MTAG_STACKSET_H */
