/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page events outside the hot path; follow.c.
 */
#ifndef MTAG_FOLLOW_H
#define MTAG_FOLLOW_H

#include <linux/mm_types.h>
#include "hooked.h"
#include "state.h"

void mtag_follow_new(struct mtag_space *s, struct page *page, int nr, struct vm_area_struct *vma,
		     unsigned long addr, unsigned long parent_ip);
void mtag_follow_add(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
		     unsigned long addr, int nr, unsigned long parent_ip);
void mtag_follow_remove(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			int nr, unsigned long parent_ip);
void mtag_follow_file(struct mtag_space *s, const struct page *page,
		      const struct vm_area_struct *vma, int nr, unsigned long parent_ip);
MTAG_HOOK_FUNC(mtag_follow_migrate);

#endif /* MTAG_FOLLOW_H */
