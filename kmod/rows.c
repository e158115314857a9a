// SPDX-License-Identifier: GPL-2.0
/*
 * Checks an unwind table from user space, so that a lookup stays within it. What the table says of
 * frames may still be wrong: the walk checks each address.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/sched.h>
#include "rows.h"

/* CFA - SP that no frame has. */
#define OFF_MAX		((int)BIT(30))

static bool header_ok(const struct mtag_unwind_header *h, size_t bytes)
{
	u64 want;

	if (bytes < sizeof(*h) || h->magic != MTAG_UNWIND_MAGIC ||
	    h->version != MTAG_UNWIND_VERSION || h->pad)
		return false;
	if (!h->blocks || h->blocks > MTAG_UNWIND_BLOCKS_MAX ||
	    !h->rows || h->rows > MTAG_UNWIND_ROWS_MAX ||
	    !h->recipes || h->recipes > MTAG_UNWIND_RECIPES_MAX ||
	    h->id_size > MTAG_UNWIND_ID_MAX)
		return false;
	want = sizeof(*h) + (h->blocks + 1) * sizeof(u32) +
	       h->rows * sizeof(u32) +
	       h->recipes * sizeof(struct mtag_unwind_recipe);
	return bytes == want;
}

/* The rows of block @i: the first at its start, each after the one before. */
static bool block_ok(const struct mtag_rows *t, u32 i, u32 recipes)
{
	u32 from = t->index[i], to = t->index[i + 1], row;

	if (t->rows[from] >> MTAG_UNWIND_LOW)
		return false;
	for (row = from; row < to; row++) {
		if ((t->rows[row] & MTAG_ROWS_RECIPE) >= recipes)
			return false;
		if (row > from && t->rows[row] >> MTAG_UNWIND_LOW <=
				  t->rows[row - 1] >> MTAG_UNWIND_LOW)
			return false;
	}
	return t->rows[to - 1] >> MTAG_UNWIND_LOW < MTAG_UNWIND_BLOCK;
}

static bool rows_ok(const struct mtag_rows *t, const struct mtag_unwind_header *h)
{
	u32 i;

	if (t->index[0] || t->index[t->blocks] != h->rows)
		return false;
	for (i = 0; i < t->blocks; i++)
		if (t->index[i] >= t->index[i + 1] || t->index[i + 1] > h->rows)
			return false;
	for (i = 0; i < t->blocks; i++) {
		if (!block_ok(t, i, h->recipes))
			return false;
		cond_resched();
	}
	return true;
}

static bool recipe_ok(const struct mtag_unwind_recipe *r)
{
	if (r->flags & ~(MTAG_UNWIND_AT_BP | MTAG_UNWIND_LOST_BP | MTAG_UNWIND_LOST_BX))
		return false;
	/*
	 * Check the register for every kind: a CPU that mispredicts the kind may use it
	 * speculatively.
	 */
	if (r->reg >= 16)
		return false;
	switch (r->kind) {
	case MTAG_UNWIND_SP:
	case MTAG_UNWIND_PLT:
		/* A frame has room for its return address: SP rises by each. */
		return r->off >= (int)sizeof(u64) && r->off <= OFF_MAX;
	default:
		return r->kind < MTAG_UNWIND_KINDS;
	}
}

/**
 * mtag_rows_set() - check a table, and prepare it for lookups
 * @t:		set on success
 * @table:	aligned to 4 bytes; must stay as it is as long as @t is used
 * @bytes:	its size
 *
 * The table may have any contents.
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL: it is not a valid table.
 */
int mtag_rows_set(struct mtag_rows *t, const void *table, size_t bytes)
{
	const struct mtag_unwind_header *h = table;
	u32 i;

	if (!header_ok(h, bytes))
		return -EINVAL;
	t->first = h->first;
	t->blocks = h->blocks;
	t->index = (const u32 *)(h + 1);
	t->rows = t->index + h->blocks + 1;
	t->recipes = (const struct mtag_unwind_recipe *)(t->rows + h->rows);
	if (!rows_ok(t, h))
		return -EINVAL;
	for (i = 0; i < h->recipes; i++)
		if (!recipe_ok(&t->recipes[i]))
			return -EINVAL;
	return 0;
}
