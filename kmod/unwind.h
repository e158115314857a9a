/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frames of a user stack; unwind.c.
 */
#ifndef MTAG_UNWIND_H
#define MTAG_UNWIND_H

#include <linux/bits.h>
#include <linux/types.h>
#include <asm/ibt.h>
#include "../include/uapi/linux/mtag.h"

struct mtag_rows;
struct mtag_unwind_recipe;

/* The most frames of a stack. */
#define MTAG_STACK_DEPTH	127

/*
 * A frame is a word: its mapping's id (16 bits), whether it is exact (1 bit), the offset in the
 * file (47 bits). The offset is that of the instruction to which the frame returns. If it is exact,
 * the frame is at this instruction: the innermost one, one that a signal has interrupted, and the
 * trampoline to which the signal's handler returns.
 */
#define MTAG_FRAME_OFFSET	((1ULL << 47) - 1)
#define MTAG_FRAME_EXACT	BIT_ULL(47)
#define MTAG_FRAME_MAP		48

/**
 * struct mtag_unwind_map - an executable mapping
 * @start:	address
 * @end:	address of its end
 * @offset:	offset in the file of @start; of the vdso, from its start. No frame of the mapping
 *		may be beyond MTAG_FRAME_OFFSET.
 * @rows:	table of the file, or NULL
 * @id:		the caller's name for it, of 16 bits
 */
struct mtag_unwind_map {
	u64 start;
	u64 end;
	u64 offset;
	const struct mtag_rows *rows;
	u32 id;
};

/**
 * struct mtag_unwind_place - where the walk found a frame
 * @at:		address at which @ip was read; 0 for the innermost frame, whose is a register
 * @ip:		the address that the frame stands for
 */
struct mtag_unwind_place {
	u64 at;
	u64 ip;
};

/**
 * struct mtag_unwind_known - what walks have found about an address that a call returns to
 * @ip:		the address
 * @generation:	of the cache, when it was found
 * @frame:	MTAG_FRAME_*
 * @recipe:	how to find the caller's frame
 */
struct mtag_unwind_known {
	u64 ip;
	u64 generation;
	u64 frame;
	const struct mtag_unwind_recipe *recipe;
};

#define MTAG_UNWIND_KNOWN	128	/* a power of 2 */

/**
 * struct mtag_unwind_cache - what walks have found, by address
 * @generation:	of the mappings and their tables: another one, and not 0, whenever those are others
 * @known:	entries; of an earlier generation: none. At first all are 0
 *
 * Programs return to few addresses. Used by one walk at a time.
 */
struct mtag_unwind_cache {
	u64 generation;
	struct mtag_unwind_known known[MTAG_UNWIND_KNOWN];
};

/**
 * struct mtag_unwind_maps - the executable mappings of an address space
 * @map:	by ascending address, none overlaps another
 * @nr:		how many
 * @cache:	what walks have found in them, and will
 */
struct mtag_unwind_maps {
	const struct mtag_unwind_map *map;
	unsigned int nr;
	struct mtag_unwind_cache *cache;
};

unsigned int __noendbr mtag_unwind(const unsigned long *regs, const struct mtag_unwind_maps *maps,
				   u64 *frames, struct mtag_unwind_place *places, unsigned int room,
				   enum mtag_stack_why *why);

#endif /* MTAG_UNWIND_H */
