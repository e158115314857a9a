/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of a process each tag has alone, and its part of what is shared; pss.c.
 */
#ifndef MTAG_PSS_H
#define MTAG_PSS_H

#include <linux/types.h>
#include "state.h"

/**
 * struct mtag_share - what a tag has, in bytes
 * @uss:	of pages that nobody else maps
 * @pss:	of all its pages, each divided by the number of its mappings
 */
struct mtag_share {
	u64 uss;
	u64 pss;
};

/**
 * struct mtag_pss - the shares of a process by tag
 * @bytes:	size of this structure
 * @nr_tags:	entries of @shares
 * @shares:	by tag
 */
struct mtag_pss {
	size_t bytes;
	unsigned int nr_tags;
	struct mtag_share shares[];
};

struct mtag_pss *mtag_pss_get(struct mtag_space *s, unsigned int nr_tags);
void mtag_pss_put(struct mtag_pss *p);

#endif /* MTAG_PSS_H */
