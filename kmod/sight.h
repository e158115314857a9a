/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of a process lies beneath each stack; sight.c.
 */
#ifndef MTAG_SIGHT_H
#define MTAG_SIGHT_H

#include <linux/types.h>
#include "state.h"

/**
 * struct mtag_seen - what a tag has beneath a stack
 * @touched:	pages ever first touched; a page that is copied may count less for a moment
 * @anon:	pages
 * @swap:	pages in swap
 * @stack:	id of the stack, or MTAG_LEAF_NONE, …
 * @tag:	id
 * @used:	there is something
 */
struct mtag_seen {
	s64 touched;
	u32 anon;
	u32 swap;
	u32 stack;
	u16 tag;
	bool used;
};

/**
 * struct mtag_sight - what a walk has seen: a hash by tag and stack
 * @room:	entries of @seen; a power of 2
 * @nr:		of them in use
 * @last:	the one that was found last
 * @older:	only pages first touched at least so many seconds ago
 * @now:	when, as mtag_leaf_now() gives it
 * @seen:	each where its hash says, or after that
 */
struct mtag_sight {
	unsigned int room;
	unsigned int nr;
	unsigned int last;
	u32 older;
	u16 now;
	struct mtag_seen *seen;
};

struct mtag_sight *mtag_sight_get(struct mtag_space *s, u32 older);
void mtag_sight_put(struct mtag_sight *sight);

#endif /* MTAG_SIGHT_H */
