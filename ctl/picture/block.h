/* SPDX-License-Identifier: GPL-2.0 */
/* Processes and their tags as blocks within each other, with sums: what a picture divides its area into. */
#ifndef MTAGCTL_PICTURE_BLOCK_H
#define MTAGCTL_PICTURE_BLOCK_H

#include <stdio.h>

#include "model.h"

/* What the bytes of a block are. */
enum part { PART_ANON, PART_FILE, PART_SHMEM, PART_SWAP, PARTS };

/**
 * struct block - all processes, a process, or a tag
 * @proc:	NULL for all processes
 * @tag:	NULL for a process as a whole
 * @parent:	index of the block that it is in, or its own for all processes
 * @first:	its kids are @n of struct blocks' kids from here on, the largest first
 * @n:		likewise
 * @own:	without its kids
 * @all:	with them
 * @size:	resident bytes of @all; unlike a sum of hostile numbers, never less than a kid's
 * @merged:	how many blocks this one stands for, 0 for itself alone
 * @itself:	stands for what a block owns without its kids
 * @hue:	from 1 to HUES, or 0; the caller's
 */
struct block {
	const struct proc *proc;
	const struct tag *tag;
	size_t parent;
	size_t first, n;
	uint64_t own[PARTS], all[PARTS];
	double size;
	size_t merged;
	bool itself;
	unsigned int hue;
};

/* @blocks[0] is all processes; each precedes those in it. */
struct blocks {
	struct block *blocks;
	size_t n;
	size_t *kids;
};

/* 0 or -ENOMEM. The blocks refer to @snap. */
int blocks_make(struct blocks *blocks, const struct snap *snap);
void blocks_clear(struct blocks *blocks);

static inline uint64_t block_rss(const uint64_t parts[PARTS])
{
	return parts[PART_ANON] + parts[PART_FILE] + parts[PART_SHMEM];
}

static inline const struct block *block_kid(const struct blocks *blocks, const struct block *block,
					    size_t i)
{
	return &blocks->blocks[blocks->kids[block->first + i]];
}

/*
 * How many of a block's kids have @least bytes, the first ones. The others are merged into @rest; its
 * merged is 0 if there are none. A single one that is not empty is no crowd: it is counted, too.
 */
size_t block_visible(const struct blocks *blocks, const struct block *block, double least,
		     struct block *rest);

/* The name in a box. NULL without memory; caller frees it. */
char *block_name(const struct block *block);
/* <title>: the path, the bytes, and what they are. 0 or -ENOMEM. */
int block_title(FILE *out, const struct blocks *blocks, const struct block *block);

#endif
