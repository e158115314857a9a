/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks: the table of all distinct ones; stack.c.
 */
#ifndef MTAG_STACK_H
#define MTAG_STACK_H

#include <linux/types.h>
#include <asm/ibt.h>
#include "unwind.h"

struct mtag_user;

/**
 * struct mtag_stack - a stack
 * @hash:	of all that follows @next
 * @next:	id of the next in its chain of the hash, or 0
 * @nr:		number of frames
 * @why:	why there are no more: enum mtag_stack_why
 * @pad:	unused; frames are at a multiple of 8
 * @frames:	MTAG_FRAME_*, innermost first
 *
 * Constant once it is in its chain.
 */
struct mtag_stack {
	u32 hash;
	u32 next;
	u16 nr;
	u16 why;
	u32 pad;
	u64 frames[];
};

int mtag_stack_begin(void);
u64 __noendbr mtag_stack_mix(u64 value);
void mtag_stack_end(void);
u32 __noendbr mtag_stack_intern(const u64 *frames, unsigned int nr, unsigned int why,
				struct mtag_user *user);
__noendbr const struct mtag_stack *mtag_stack_at(u32 id);
u32 mtag_stack_room(void);

#endif /* MTAG_STACK_H */
