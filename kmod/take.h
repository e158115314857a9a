/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Taking the user stack of a first touch; take.c.
 */
#ifndef MTAG_TAKE_H
#define MTAG_TAKE_H

#include <asm/ibt.h>
#include "leaf.h"
#include "state.h"

int mtag_take_begin(void);
void mtag_take_end(void);
struct mtag_leaf __noendbr mtag_take(struct mtag_space *s, const struct mm_struct *mm, u32 tag,
				     int nr);
u32 __noendbr mtag_take_call(struct mtag_space *s);
void __noendbr mtag_take_pages(struct mtag_space *s, const struct mm_struct *mm,
			       const struct page *page, int done, int nr, u32 tag);

#endif /* MTAG_TAKE_H */
