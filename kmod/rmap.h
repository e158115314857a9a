/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot path of page events; rmap.c.
 */
#ifndef MTAG_RMAP_H
#define MTAG_RMAP_H

#include <linux/mm_types.h>
#include "hooked.h"

void mtag_rmap_gone(struct vm_area_struct *vma, struct page *page, int nr,
		    unsigned long parent_ip);
void mtag_rmap_added(struct vm_area_struct *vma, struct page *page, unsigned long addr, int nr,
		     unsigned long parent_ip);
void mtag_rmap_added_file(struct vm_area_struct *vma, struct page *page, int nr,
			  unsigned long parent_ip);
void mtag_rmap_new_anon(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs);
void mtag_rmap_remove(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		      struct ftrace_regs *fregs);

#endif /* MTAG_RMAP_H */
