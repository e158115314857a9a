/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The area where a process keeps its view of its heap; heap.c.
 */
#ifndef MTAG_HEAP_H
#define MTAG_HEAP_H

#include <linux/mm_types.h>
#include "mtag.h"
#include "state.h"

int mtag_heap_set(struct mtag_space *s, u64 address, u64 length);
void mtag_heap_inherit(struct mtag_space *child, struct mtag_space *parent);
u32 mtag_heap_stack(struct mtag_space *s);
int mtag_heap_read(struct mtag_space *s, struct mm_struct *mm, struct mtag_ioc_heap_read *r);

#endif /* MTAG_HEAP_H */
