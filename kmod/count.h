/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts of a walk over page tables; count.c.
 */
#ifndef MTAG_COUNT_H
#define MTAG_COUNT_H

#include "charge.h"
#include "visit.h"

/* Result of an audit, in pages. */
struct mtag_audit {
	u64 kernel;	/* RSS by the kernel's own counters */
	u64 walked;	/* present in the page tables */
	u64 accounted;	/* sum over tags of anon, file and shmem */
	u64 drift;	/* sum over tags and kinds, swap included, of |counted - walked| */
	u64 migrating;	/* migration entries */
};

/* Tags per batch: events wait while walk_lock is held, and nothing else runs on this CPU. */
#define MTAG_COUNT_BATCH 64U

/**
 * struct mtag_counter - a count under way
 * @v:		visitor of the page tables
 * @w:		the part of the walk that events see
 * @untag:	pages that are found become untagged
 * @fresh:	no other process can have given these pages an owner
 * @compares:	compare the accounts with the counts, do not replace them
 * @total:	pages by kind
 */
struct mtag_counter {
	struct mtag_visitor v;
	struct mtag_walk w;
	bool untag;
	bool fresh;
	bool compares;
	s64 total[MTAG_KINDS];
};

int mtag_count_init(struct mtag_counter *c, struct mtag_space *s, gfp_t gfp);
void mtag_count_begin(struct mtag_counter *c);
void mtag_count_mm(struct mtag_counter *c, struct mm_struct *mm);
unsigned int mtag_count_take(struct mtag_counter *c, unsigned int tag);
int mtag_count_end(struct mtag_counter *c, struct mtag_audit *audit);

#endif /* MTAG_COUNT_H */
