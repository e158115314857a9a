// SPDX-License-Identifier: GPL-2.0
/* Which recipe there is from where on: what becomes the rows of an unwind table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/ranges.h"
#include "unwind/recipe.h"

#define HASH (MTAG_UNWIND_RECIPES_MAX * 2)
/* Functions begin at multiples of that: in a gap that is smaller there is no other one. */
#define ALIGNMENT 16

int ranges_init(struct ranges *ranges)
{
	*ranges = (struct ranges){0};
	ranges->hash = calloc(HASH, sizeof(*ranges->hash));
	ranges->recipe = calloc(MTAG_UNWIND_RECIPES_MAX, sizeof(*ranges->recipe));
	if (ranges->hash && ranges->recipe)
		return 0;
	ranges_clear(ranges);
	return -ENOMEM;
}

void ranges_clear(struct ranges *ranges)
{
	free(ranges->range);
	free(ranges->recipe);
	free(ranges->hash);
	*ranges = (struct ranges){0};
}

static uint32_t hash_of(const struct mtag_unwind_recipe *recipe)
{
	const uint8_t *at = (const uint8_t *)recipe;
	uint32_t hash = 2166136261;

	for (size_t i = 0; i < sizeof(*recipe); i++)
		hash = (hash ^ at[i]) * 16777619;
	return hash ^ hash >> 16;
}

/* The number of a recipe. When there are too many, that of one that stops. */
static uint32_t number_of(struct ranges *ranges, const struct mtag_unwind_recipe *recipe)
{
	const struct mtag_unwind_recipe stop = recipe_plain(MTAG_UNWIND_STOP);

	for (uint32_t i = hash_of(recipe);; i++) {
		uint32_t *slot = &ranges->hash[i % HASH];

		if (*slot && !memcmp(&ranges->recipe[*slot - 1], recipe, sizeof(*recipe)))
			return *slot - 1;
		if (*slot)
			continue;
		/* The last number is the stop's. */
		if (ranges->recipes >= MTAG_UNWIND_RECIPES_MAX - 1 &&
		    memcmp(recipe, &stop, sizeof(stop)))
			return number_of(ranges, &stop);
		ranges->recipe[ranges->recipes++] = *recipe;
		*slot = ranges->recipes;
		return ranges->recipes - 1;
	}
}

static int push(struct ranges *ranges, uint64_t offset, const struct mtag_unwind_recipe *recipe)
{
	uint32_t number = number_of(ranges, recipe);

	if (ranges->count && ranges->range[ranges->count - 1].recipe == number)
		return 0;
	if (ranges->count == ranges->room) {
		size_t room = ranges->room * 2 + 1024;
		void *more = realloc(ranges->range, room * sizeof(*ranges->range));

		if (!more)
			return -ENOMEM;
		ranges->range = more;
		ranges->room = room;
	}
	ranges->range[ranges->count++] = (struct range){offset, number};
	return 0;
}

int ranges_add(struct ranges *ranges, uint64_t start, uint64_t end,
	       const struct mtag_unwind_recipe *recipe)
{
	int err = 0;

	if (!ranges->count || start - ranges->end >= ALIGNMENT)
		err = ranges_finish(ranges);
	ranges->end = end;
	return err ? err : push(ranges, start, recipe);
}

int ranges_finish(struct ranges *ranges)
{
	const struct mtag_unwind_recipe none = recipe_plain(MTAG_UNWIND_NONE);

	return push(ranges, ranges->end, &none);
}

/* The last range that begins at or before @offset. The first begins at 0. */
static size_t find(const struct ranges *ranges, uint64_t offset)
{
	size_t low = 0, high = ranges->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		*(ranges->range[middle].offset <= offset ? &low : &high) = middle;
	}
	return low;
}

bool ranges_says_nothing(const struct ranges *ranges, uint64_t offset, uint64_t *end)
{
	size_t i = find(ranges, offset);

	*end = i + 1 < ranges->count ? ranges->range[i + 1].offset : UINT64_MAX;
	return ranges->recipe[ranges->range[i].recipe].kind == MTAG_UNWIND_NONE;
}

int ranges_replace(struct ranges *ranges, uint64_t start, uint64_t end,
		   const struct mtag_unwind_recipe *recipe)
{
	size_t first = find(ranges, start), last = find(ranges, end);
	uint32_t number = number_of(ranges, recipe), after = ranges->range[last].recipe;
	size_t rest = ranges->count - last - 1;
	struct range *more;

	if (first == last && after == number)
		return 0;
	if (ranges->range[first].offset < start)
		first++;
	/* There may be two more ranges than before, or fewer. */
	more = realloc(ranges->range, (ranges->count + 2) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	ranges->range = more;
	ranges->room = ranges->count + 2;
	memmove(&more[first + 2], &more[last + 1], rest * sizeof(*more));
	more[first] = (struct range){start, number};
	more[first + 1] = (struct range){end, after};
	ranges->count = first + 2 + rest;
	return 0;
}
