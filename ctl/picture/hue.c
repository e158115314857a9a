// SPDX-License-Identifier: GPL-2.0
/*
 * Gives colours to top-level tags, by their names: a program's tags look alike in all its processes. Functions that
 * own memory have colours too, so that those of a program without tags can be told apart.
 */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "picture/hue.h"

struct top {
	const struct tag *tag;
	double size;
};

static bool is_top(const struct block *block)
{
	if (block->tag && block->tag->frame)
		return block_rss(block->own);
	return block->tag && block->tag->depth == 1 && block->tag->parent < 0 &&
	       block->tag->id != MTAG_ID_KSM;
}

static int by_name(const void *a, const void *b)
{
	const struct top *x = a, *y = b;

	return strcmp(x->tag->name, y->tag->name);
}

static int by_size(const void *a, const void *b)
{
	const struct top *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return by_name(a, b);
}

/* What a block weighs among those that may have a colour. */
static double weight(const struct block *block)
{
	return block->tag->frame ? (double)block_rss(block->own) : block->size;
}

/* Sorted by name, a line each. */
static size_t list_tops(const struct blocks *blocks, struct top *tops)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < blocks->n; i++)
		if (is_top(&blocks->blocks[i]))
			tops[n++] = (struct top){blocks->blocks[i].tag, weight(&blocks->blocks[i])};
	if (n)
		qsort(tops, n, sizeof(*tops), by_name);
	for (size_t i = 0; i < n; i++) {
		if (kept && !by_name(&tops[kept - 1], &tops[i]))
			tops[kept - 1].size += tops[i].size;
		else
			tops[kept++] = tops[i];
	}
	return kept;
}

static unsigned int find_hue(const struct tag *const tops[HUES], const char *name)
{
	for (unsigned int i = 0; i < HUES && tops[i]; i++)
		if (!strcmp(tops[i]->name, name))
			return i + 1;
	return 0;
}

int hue_by_top(struct blocks *blocks, double least, const struct tag *hues[HUES])
{
	_cleanup_(freep) struct top *tops = calloc(blocks->n, sizeof(*tops));
	size_t n;

	if (!tops)
		return -ENOMEM;
	n = list_tops(blocks, tops);
	if (n)
		qsort(tops, n, sizeof(*tops), by_size);
	for (size_t i = 0; i < HUES; i++)
		hues[i] = i < n && tops[i].size >= least ? tops[i].tag : NULL;
	for (size_t i = 0; i < blocks->n; i++) {
		struct block *block = &blocks->blocks[i];

		if (block->tag && (block->tag->frame || is_top(block)))
			block->hue = find_hue(hues, block->tag->name);
		if (block->tag && !block->hue)
			block->hue = blocks->blocks[block->parent].hue;
	}
	return 0;
}
