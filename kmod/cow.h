/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Owners of copies, by copy-on-write and by uprobes; cow.c.
 */
#ifndef MTAG_COW_H
#define MTAG_COW_H

#include "caller.h"
#include "state.h"

void mtag_cow_begin(struct mtag_space *s, struct page *page, unsigned long addr, u32 tag);
void mtag_cow_end(struct mtag_space *s, struct mm_struct *mm, const struct page *original,
		  unsigned long addr, enum mtag_caller caller);

#endif /* MTAG_COW_H */
