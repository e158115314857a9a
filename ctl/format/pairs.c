// SPDX-License-Identifier: GPL-2.0
/* Numbers pairs of numbers, from 0, so that each different one is kept once. */
#include <errno.h>
#include <search.h>

#include "ctl.h"
#include "format/pairs.h"

static int by_numbers(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->second > y->second) - (x->second < y->second);
}

ssize_t pairs_add(struct pairs *pairs, int64_t first, int64_t second)
{
	struct pair **all = array_grow(pairs->pairs, pairs->n, &pairs->room, sizeof(*all));
	_cleanup_(freep) struct pair *pair = malloc(sizeof(*pair));
	struct pair **place;

	pairs->pairs = all ? all : pairs->pairs;
	if (!all || !pair)
		return -ENOMEM;
	*pair = (struct pair){first, second, pairs->n};
	place = tsearch(pair, &pairs->tree, by_numbers);
	if (!place)
		return -ENOMEM;
	if (*place == pair) {
		all[pairs->n++] = pair;
		pair = NULL; /* the tree has it */
	}
	return (ssize_t)(*place)->number;
}

void pairs_clear(struct pairs *pairs)
{
	tdestroy(pairs->tree, free);
	free(pairs->pairs);
	*pairs = (struct pairs){0};
}
