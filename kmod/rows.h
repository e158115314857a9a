/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unwind tables: what says at an offset in a file how to find the caller's frame; rows.c.
 */
#ifndef MTAG_ROWS_H
#define MTAG_ROWS_H

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/nospec.h>
#include <linux/types.h>
#include "../include/uapi/linux/mtag_unwind.h"

/* The bits of a row that are a recipe's number. */
#define MTAG_ROWS_RECIPE	((1U << MTAG_UNWIND_LOW) - 1)

/**
 * struct mtag_rows - a table that mtag_rows_set() found valid
 * @index:	first row of each block
 * @rows:	all rows
 * @recipes:	what rows refer to
 * @first:	number of the first block
 * @blocks:	how many
 */
struct mtag_rows {
	const u32 *index;
	const u32 *rows;
	const struct mtag_unwind_recipe *recipes;
	u32 first;
	u32 blocks;
};

int mtag_rows_set(struct mtag_rows *rows, const void *table, size_t bytes);

/**
 * mtag_rows_find() - find the recipe for an offset
 * @t:		table
 * @offset:	in the file; any number
 *
 * Inline, as it runs while user memory may be read, where nothing may be called.
 *
 * Context: any; the table must stay.
 * Return: the recipe, NULL outside of the table.
 */
static __always_inline const struct mtag_unwind_recipe *
mtag_rows_find(const struct mtag_rows *t, u64 offset)
{
	/* Pairs with publish_rows() in image.c: with its blocks the rest of a table is seen. */
	u32 blocks = smp_load_acquire(&t->blocks);
	u64 block = (offset >> MTAG_UNWIND_SHIFT) - t->first;
	u32 last = (offset & (MTAG_UNWIND_BLOCK - 1)) << MTAG_UNWIND_LOW | MTAG_ROWS_RECIPE;
	size_t from, left, half;
	const u32 *row;

	if (block >= blocks)
		return NULL;
	block = array_index_nospec(block, blocks);
	from = t->index[block];
	left = t->index[block + 1] - from;
	row = t->rows + from;
	/* The block has a row, whose low is 0. */
	while (left > 1) {
		half = left / 2;
		row = row[half] <= last ? row + half : row;
		left -= half;
	}
	return t->recipes + (*row & MTAG_ROWS_RECIPE);
}

#endif /* MTAG_ROWS_H */
