/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers pairs of numbers, from 0, so that each different one is kept once. */
#ifndef MTAGCTL_FORMAT_PAIRS_H
#define MTAGCTL_FORMAT_PAIRS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pair {
	int64_t first;
	int64_t second;
	size_t number;
};

/**
 * struct pairs - initially all 0
 * @pairs:	by their numbers
 * @tree:	the same, to be found
 */
struct pairs {
	struct pair **pairs;
	size_t n;
	size_t room;
	void *tree;
};

/* The number of a pair, or -ENOMEM. */
ssize_t pairs_add(struct pairs *pairs, int64_t first, int64_t second);
void pairs_clear(struct pairs *pairs);

#endif
