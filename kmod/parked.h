/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of a process that is no longer tracked; parked.c.
 */
#ifndef MTAG_PARKED_H
#define MTAG_PARKED_H

struct mm_struct;
struct mtag_space;
struct page;

void mtag_parked_new(struct page *page, int nr, struct mm_struct *mm, unsigned long addr,
		     unsigned long parent_ip);
void mtag_parked_removed(struct mtag_space *s, struct page *page, struct mm_struct *mm, int nr,
			 unsigned long addr);

#endif /* MTAG_PARKED_H */
