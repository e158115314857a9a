/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The unwind table of one ELF file, which says for each instruction where its caller's frame is.
 * x86-64 only. mtagctl compiles it from .eh_frame, MTAG_IOC_UNWIND hands it to the module.
 *
 *   struct mtag_unwind_header
 *   __u32 index[blocks + 1]			first row of each block, and the number of rows
 *   __u32 rows[rows]				in ascending order within each block
 *   struct mtag_unwind_recipe recipes[recipes]	each for any number of rows
 *
 * Addresses are offsets in the file, so that a lookup takes no more than a mapping has: file
 * offset = address - start of the mapping + its offset. Whoever made the table has translated each
 * virtual address by the executable PT_LOAD that holds it. The vdso is a file that is mapped from
 * offset 0 on.
 *
 * A block is 1 KiB of the file; block 0 begins at @first blocks. The first row of each block is at
 * its start, hence each has at least one. A row is an offset in the block, shifted by
 * MTAG_UNWIND_LOW, and the number of a recipe, which is good up to the next row.
 */
#ifndef _UAPI_LINUX_MTAG_UNWIND_H
#define _UAPI_LINUX_MTAG_UNWIND_H

#include <linux/types.h>

#define MTAG_UNWIND_MAGIC	0x5755474d	/* "MGUW" */
#define MTAG_UNWIND_VERSION	1
#define MTAG_UNWIND_SHIFT	10		/* log2 of a block's bytes */
#define MTAG_UNWIND_BLOCK	(1U << MTAG_UNWIND_SHIFT)
#define MTAG_UNWIND_BLOCKS_MAX	(1U << 22)	/* 4 GiB of text */
#define MTAG_UNWIND_LOW		16		/* of a row: where the offset in the block is */
#define MTAG_UNWIND_ROWS_MAX	(1U << 24)
#define MTAG_UNWIND_RECIPES_MAX	(1U << 16)
#define MTAG_UNWIND_BYTES_MAX	(96U << 20)	/* of a table; no valid one has more */
#define MTAG_UNWIND_ID_MAX	32		/* bytes of a build-id */

/**
 * struct mtag_unwind_header - how a table begins
 * @magic:	MTAG_UNWIND_MAGIC
 * @version:	MTAG_UNWIND_VERSION
 * @first:	number of the first block: its file offset >> MTAG_UNWIND_SHIFT
 * @blocks:	how many, 1 to MTAG_UNWIND_BLOCKS_MAX
 * @rows:	how many, 1 to MTAG_UNWIND_ROWS_MAX
 * @recipes:	how many, 1 to MTAG_UNWIND_RECIPES_MAX
 * @id_size:	bytes of @id, 0 if the file has no build-id
 * @pad:	0
 * @id:		the file's build-id, then 0
 */
struct mtag_unwind_header {
	__u32	magic;
	__u32	version;
	__u32	first;
	__u32	blocks;
	__u32	rows;
	__u32	recipes;
	__u32	id_size;
	__u32	pad;
	__u8	id[MTAG_UNWIND_ID_MAX];
};

/*
 * Where the canonical frame address (CFA) is: what SP is after the return. The return address is
 * at CFA - 8.
 */
enum mtag_unwind_kind {
	MTAG_UNWIND_NONE,	/* nothing is known: only a frame pointer could help */
	MTAG_UNWIND_STOP,	/* there is a rule, but no kind for it */
	MTAG_UNWIND_END,	/* the outermost frame */
	MTAG_UNWIND_SP,		/* SP + off; off is at least 8 */
	MTAG_UNWIND_BP,		/* RBP + off */
	MTAG_UNWIND_REG,	/* register reg + off */
	MTAG_UNWIND_DEREF,	/* the word at register reg + off, + add */
	MTAG_UNWIND_PLT,	/* SP + off, 8 more when the low 4 bits of IP are at least reg */
	MTAG_UNWIND_SIGNAL,	/* SP points to the struct ucontext of a signal */
	MTAG_UNWIND_KINDS,
};

#define MTAG_UNWIND_SAME	(-32768)	/* @bp, @bx: the register is the caller's */

#define MTAG_UNWIND_AT_BP	0x1		/* @bp and @bx are relative to RBP, not to CFA */
#define MTAG_UNWIND_LOST_BP	0x2		/* the caller's RBP cannot be had */
#define MTAG_UNWIND_LOST_BX	0x4		/* likewise RBX */

/**
 * struct mtag_unwind_recipe - how to get from a frame to its caller's
 * @off:	as @kind says
 * @bp:		the caller's RBP is at CFA + @bp; or MTAG_UNWIND_SAME
 * @bx:		likewise RBX, from which the dynamic linker finds its frame when it binds a function
 * @kind:	enum mtag_unwind_kind
 * @reg:	as @kind says; registers have DWARF's numbers, 0 to 15
 * @add:	as @kind says
 * @flags:	MTAG_UNWIND_AT_BP, _LOST_*
 */
struct mtag_unwind_recipe {
	__s32	off;
	__s16	bp;
	__s16	bx;
	__u8	kind;
	__u8	reg;
	__u8	add;
	__u8	flags;
};

#endif /* _UAPI_LINUX_MTAG_UNWIND_H */
