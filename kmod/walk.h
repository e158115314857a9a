/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks over page tables: the first count of a space, repair, audit; walk.c.
 */
#ifndef MTAG_WALK_H
#define MTAG_WALK_H

#include "count.h"
#include "state.h"

/* How often a walk is tried until it is exact. */
#define MTAG_WALK_ATTEMPTS 8

int mtag_walk_audit(struct mtag_space *s, struct mm_struct *mm, struct mtag_audit *audit);
int mtag_walk_repair(struct mtag_space *s);
void mtag_walk_verify(void);
int mtag_walk_lock(struct mm_struct *mm);
int mtag_walk_unlock(struct mm_struct *mm, unsigned long addr, unsigned long end);
int mtag_walk_build(struct mtag_space *s, struct mm_struct *mm, bool fresh);

#endif /* MTAG_WALK_H */
