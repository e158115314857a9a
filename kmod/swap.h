/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Owners of swapped-out pages; swap.c.
 */
#ifndef MTAG_SWAP_H
#define MTAG_SWAP_H

#include <asm/ibt.h>
#include "hooked.h"
#include "state.h"

u32 mtag_swap_tag(unsigned long entry);
void mtag_swap_set(unsigned long entry, u32 tag);
void mtag_swap_own(struct mm_struct *mm, struct page *page, unsigned long addr);
unsigned long mtag_swap_left(struct page *page, struct mm_struct *mm, unsigned long addr);
void __noendbr mtag_swap_out(struct mtag_space *s, unsigned long entry, u32 tag,
			     unsigned long addr);
void __noendbr mtag_swap_freed(unsigned long entry, int nr, unsigned long parent_ip);
void __noendbr mtag_swap_freed_one(unsigned long entry, unsigned long parent_ip);
void __noendbr mtag_swap_in(struct mtag_space *s, struct mm_struct *mm, unsigned long addr);
void mtag_swap_exit(void);
MTAG_HOOK_FUNC(mtag_swap_read);
void __noendbr mtag_swap_zap_args(const void *tlb, const struct vm_area_struct *vma);
MTAG_HOOK_FUNC(mtag_swap_free);
MTAG_HOOK_FUNC(mtag_swap_zap);
MTAG_HOOK_FUNC(mtag_swap_lazyfree);

#endif /* MTAG_SWAP_H */
