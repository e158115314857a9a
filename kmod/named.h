/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of stacks: those whose numbers a process was told, and those taken for it; named.c.
 */
#ifndef MTAG_NAMED_H
#define MTAG_NAMED_H

#include <linux/bitops.h>
#include <linux/gfp_types.h>
#include <linux/kref.h>
#include <linux/types.h>

/**
 * struct mtag_named - a set of stacks
 * @ref:	one for each that refers to it
 * @room:	ids are below it; constant
 * @bits:	one for each id. Set by atomic operations, and never cleared
 */
struct mtag_named {
	struct kref ref;
	u32 room;
	unsigned long bits[];
};

struct mtag_named *mtag_named_alloc(u32 room, gfp_t gfp);
struct mtag_named *mtag_named_copy(const struct mtag_named *from, gfp_t gfp);
struct mtag_named *mtag_named_get(struct mtag_named *named);
void mtag_named_put(struct mtag_named *named);

/* Context: any. */
static inline bool mtag_named_has(const struct mtag_named *named, u32 id)
{
	return id < named->room && test_bit(id, named->bits);
}

/* Context: any. */
static inline void mtag_named_add(struct mtag_named *named, u32 id)
{
	if (id < named->room && !test_bit(id, named->bits))
		set_bit(id, named->bits);
}

/* The first id of the set from @id on; @named->room if there is none. Context: any. */
static inline u32 mtag_named_next(const struct mtag_named *named, u32 id)
{
	return find_next_bit(named->bits, named->room, id);
}

#endif /* MTAG_NAMED_H */
