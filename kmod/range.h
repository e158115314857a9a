/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address ranges and their tags; range.c.
 */
#ifndef MTAG_RANGE_H
#define MTAG_RANGE_H

#include <linux/gfp_types.h>
#include <linux/mm_types.h>
#include <asm/ibt.h>
#include "answer.h"
#include "state.h"

/* Context: a page-table lock or mmap_lock of the space's mm. */
u32 __noendbr mtag_range_find(struct mtag_space *s, unsigned long addr, unsigned long *end);
bool __noendbr mtag_range_recall(struct mtag_space *s, const struct vm_area_struct *vma);
u32 __noendbr mtag_range_event(struct mtag_space *s, const struct vm_area_struct *vma,
			       unsigned long addr, unsigned long *end);
bool mtag_range_explicit(struct mtag_space *s, const struct vm_area_struct *vma,
			 unsigned long addr, u32 *tag, unsigned long *end);
bool mtag_range_grown(struct mtag_space *s, unsigned long addr, unsigned long last, u32 *tag,
		      unsigned long *end);
void mtag_range_map(struct mtag_space *s, unsigned long addr, unsigned long len, u32 tag);
void mtag_range_move(struct mtag_space *s, unsigned long from, unsigned long to,
		     unsigned long len);
void mtag_range_init(struct mtag_space *s);
int mtag_range_fork(struct mtag_space *to, struct mtag_space *from, gfp_t gfp);
void mtag_range_free(struct mtag_space *s);
void mtag_range_uses(struct mtag_space *s, void (*use)(void *data, u32 tag), void *data);
int mtag_range_reserve(struct mtag_space *s);
int mtag_range_give(struct mtag_space *s, unsigned long first, unsigned long last, u32 tag);

/**
 * mtag_range_tag() - the tag that mapped @addr
 * @s:		space
 * @addr:	user address
 * @end:	filled with the end of the range for which the answer holds, exclusive
 *
 * Inline because it is called for each mapping that is read. Context: any.
 */
static inline u32 mtag_range_tag(struct mtag_space *s, unsigned long addr, unsigned long *end)
{
	if (!mtree_empty(&s->ranges.tree))
		return mtag_range_find(s, addr, end);
	*end = ULONG_MAX;
	return s->base_tag;
}

#endif /* MTAG_RANGE_H */
