/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frames of a user stack; unwind.c.
 */
#ifndef MTAG_UNWIND_H
#define MTAG_UNWIND_H

#include <linux/types.h>
#include "../include/uapi/linux/mtag.h"

struct mtag_rows;

/* The most frames of a stack. */
#define MTAG_STACK_DEPTH	127

/**
 * struct mtag_unwind_map - an executable mapping
 * @start:	address
 * @end:	address of its end
 * @offset:	offset in the file of @start; of the vdso, from its start
 * @rows:	table of the file, or NULL
 * @id:		the caller's name for it
 */
struct mtag_unwind_map {
	u64 start;
	u64 end;
	u64 offset;
	const struct mtag_rows *rows;
	u32 id;
};

/**
 * struct mtag_unwind_frame - a frame
 * @offset:	in the file: of the instruction to which it returns, or, if @exact, at which it is
 * @at:		address at which @ip was read; 0 for the innermost frame, whose is a register
 * @ip:		the address that @offset stands for
 * @map:	@id of the mapping
 * @exact:	1 for the innermost frame, one that a signal has interrupted, and the trampoline
 *		to which the signal's handler returns; else 0
 */
struct mtag_unwind_frame {
	u64 offset;
	u64 at;
	u64 ip;
	u32 map;
	u32 exact;
};

/**
 * struct mtag_unwind_maps - the executable mappings of an address space
 * @map:	by ascending address, none overlaps another
 * @nr:		how many
 */
struct mtag_unwind_maps {
	const struct mtag_unwind_map *map;
	unsigned int nr;
};

unsigned int mtag_unwind(const unsigned long *regs, const struct mtag_unwind_maps *maps,
			 struct mtag_unwind_frame *frames, unsigned int room,
			 enum mtag_stack_why *why);

#endif /* MTAG_UNWIND_H */
