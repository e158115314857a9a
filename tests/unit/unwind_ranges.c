// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/unwind/ranges.c ctl/unwind/recipe.c */
/* Ranges of code: whatever is replaced in whichever list, each offset has the recipe that was written there last. */
#include <stdlib.h>

#include "ctl_tap.h"
#include "unwind/ranges.h"

#define BYTES	400
#define ROUNDS	1000
#define RECIPES 5

static struct mtag_unwind_recipe recipe(unsigned int n)
{
	return (struct mtag_unwind_recipe){.kind = MTAG_UNWIND_SP, .off = 8 * ((int)n + 1)};
}

/* The recipe at @offset, or -1. */
static int at(const struct ranges *ranges, uint64_t offset)
{
	const struct range *r = NULL;

	for (size_t i = 0; i < ranges->count && ranges->range[i].offset <= offset; i++)
		r = &ranges->range[i];
	return !r || ranges->recipe[r->recipe].kind != MTAG_UNWIND_SP
		       ? -1
		       : ranges->recipe[r->recipe].off / 8 - 1;
}

/* Ranges as they come from a file, with gaps or one for each byte, then replacements. Returns how many bytes are wrong. */
static size_t round_of(size_t longest)
{
	struct ranges ranges;
	size_t wrong = 0, next;
	int model[BYTES];

	if (ranges_init(&ranges))
		abort();
	for (size_t i = 0; i < BYTES; i++)
		model[i] = -1;
	for (size_t start = 16; start < BYTES - 32; start = next) {
		unsigned int n = (unsigned int)rand() % RECIPES;
		struct mtag_unwind_recipe r = recipe(n);

		next = start + 1 + (size_t)rand() % longest;
		next = next < BYTES - 32 ? next : BYTES - 32;
		wrong += ranges_add(&ranges, start, next, &r) != 0;
		for (size_t i = start; i < next; i++)
			model[i] = (int)n;
	}
	wrong += ranges_finish(&ranges) != 0;
	for (int i = 0; i < 4; i++) {
		size_t start = (size_t)rand() % (BYTES - 40), end = start + 1 + (size_t)rand() % 20;
		struct mtag_unwind_recipe r = recipe(RECIPES);

		wrong += ranges_replace(&ranges, start, end, &r) != 0;
		for (size_t at = start; at < end; at++)
			model[at] = RECIPES;
	}
	for (size_t i = 0; i < BYTES; i++)
		wrong += at(&ranges, i) != model[i];
	for (size_t i = 1; i < ranges.count; i++)
		wrong += ranges.range[i - 1].offset >= ranges.range[i].offset;
	ranges_clear(&ranges);
	return wrong;
}

int main(void)
{
	size_t wrong = 0;

	srand(1);
	for (int i = 0; i < ROUNDS; i++)
		wrong += round_of(i % 2 ? 2 : 30);
	ok(!wrong, "in many lists each offset has the recipe that was written last");
	return tap_end();
}
