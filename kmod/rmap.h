/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page events; rmap.c.
 */
#ifndef MTAG_RMAP_H
#define MTAG_RMAP_H

#include <linux/mm_types.h>
#include <asm/ibt.h>
#include "hooked.h"

void __noendbr mtag_rmap_new_other(unsigned long a0, unsigned long a1, unsigned long a2,
				   unsigned long a3, unsigned long parent_ip);
void __noendbr mtag_rmap_new_full(unsigned long a0, unsigned long a1);
void __noendbr mtag_rmap_gone_full(unsigned long a0, unsigned long a1, unsigned long a2,
				   unsigned long a3);
void __noendbr mtag_rmap_gone_other(unsigned long a0, unsigned long a1, unsigned long a2,
				    unsigned long a3, unsigned long parent_ip);
void __noendbr mtag_rmap_gone(struct vm_area_struct *vma, struct page *page, int nr,
			      unsigned long parent_ip);
void __noendbr mtag_rmap_added(struct vm_area_struct *vma, struct page *page, unsigned long addr,
			       int nr, unsigned long parent_ip);
void __noendbr mtag_rmap_added_file(struct vm_area_struct *vma, struct page *page, int nr,
				    unsigned long parent_ip);
void __noendbr mtag_rmap_copy(unsigned long a0, unsigned long a1, unsigned long a2,
			      unsigned long a3, unsigned long parent_ip);
void __noendbr mtag_rmap_copied(unsigned long a0, unsigned long a1, unsigned long a2,
				unsigned long a3, unsigned long parent_ip);
void __noendbr mtag_rmap_file_other(unsigned long a0, unsigned long a1, unsigned long a2,
				    unsigned long a3, unsigned long parent_ip);
void __noendbr mtag_rmap_file_full(unsigned long a0, unsigned long a1, unsigned long a2,
				   unsigned long a3);
MTAG_HOOK_FUNC(mtag_rmap_new_anon);
MTAG_HOOK_FUNC(mtag_rmap_remove);
MTAG_HOOK_FUNC(mtag_rmap_add_file);

#endif /* MTAG_RMAP_H */
