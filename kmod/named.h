/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stacks whose numbers a process was told; named.c.
 */
#ifndef MTAG_NAMED_H
#define MTAG_NAMED_H

#include <linux/bitops.h>
#include <linux/gfp_types.h>
#include <linux/types.h>

/**
 * struct mtag_named - a set of stacks
 * @room:	ids are below it; constant
 * @bits:	one for each id. Set by atomic operations, and never cleared
 */
struct mtag_named {
	u32 room;
	unsigned long bits[];
};

struct mtag_named *mtag_named_alloc(u32 room, gfp_t gfp);
struct mtag_named *mtag_named_copy(const struct mtag_named *from, gfp_t gfp);
void mtag_named_free(struct mtag_named *named);

/* The first id of the set from @id on; @named->room if there is none. Context: any. */
static inline u32 mtag_named_next(const struct mtag_named *named, u32 id)
{
	return find_next_bit(named->bits, named->room, id);
}

#endif /* MTAG_NAMED_H */
