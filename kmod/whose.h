/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tag that a page or swap slot in the page tables is charged to; whose.c.
 */
#ifndef MTAG_WHOSE_H
#define MTAG_WHOSE_H

#include "state.h"
#include "visit.h"

u32 mtag_whose(struct mtag_space *s, const struct mtag_pte *e, int i);
bool mtag_whose_slot(struct mtag_space *s, unsigned long entry, u32 *tag);
u32 mtag_whose_now(struct mtag_space *s, const struct mtag_pte *e, int i);

#endif /* MTAG_WHOSE_H */
