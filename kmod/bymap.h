/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tags of mappings; bymap.c.
 */
#ifndef MTAG_BYMAP_H
#define MTAG_BYMAP_H

#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct mtag_space;

/* Context of all: mmap_lock held for writing, or an mm that is not in use yet. */
bool mtag_bymap_sysv(const struct file *file);
u32 mtag_bymap_tag(struct mtag_space *s, const struct file *file, bool shared);
u32 mtag_bymap_brk(struct mtag_space *s, unsigned long addr);
void mtag_bymap_special(const struct vm_area_struct *vma);
void mtag_bymap_begin(struct mtag_space *s, const struct vm_area_struct *stack);

#endif /* MTAG_BYMAP_H */
