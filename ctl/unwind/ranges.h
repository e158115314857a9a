/* SPDX-License-Identifier: GPL-2.0 */
/* Which recipe there is from where on: what becomes the rows of an unwind table. */
#ifndef MTAGCTL_UNWIND_RANGES_H
#define MTAGCTL_UNWIND_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/linux/mtag_unwind.h"

struct range {
	uint64_t offset;
	uint32_t recipe;
};

/**
 * struct ranges - a list of ranges, each up to the next one
 * @range:	by ascending offset
 * @count:	how many
 * @room:	how many fit
 * @recipe:	different ones
 * @recipes:	how many
 * @hash:	numbers of recipes + 1, 0 where there is none
 * @end:	of the last range that says something
 */
struct ranges {
	struct range *range;
	size_t count, room;
	struct mtag_unwind_recipe *recipe;
	uint32_t recipes;
	uint32_t *hash;
	uint64_t end;
};

/* All that can fail return 0 or -ENOMEM. */
int ranges_init(struct ranges *ranges);
void ranges_clear(struct ranges *ranges);
/* From @start up to @end there is @recipe. In ascending order, and without overlaps. */
int ranges_add(struct ranges *ranges, uint64_t start, uint64_t end,
	       const struct mtag_unwind_recipe *recipe);
/* Nothing more is added. */
int ranges_finish(struct ranges *ranges);
/* After that: the same, whatever was there. */
int ranges_replace(struct ranges *ranges, uint64_t start, uint64_t end,
		   const struct mtag_unwind_recipe *recipe);
/* After that, too: is nothing said of @offset? *@end is from where on something is. */
bool ranges_says_nothing(const struct ranges *ranges, uint64_t offset, uint64_t *end);

#endif
