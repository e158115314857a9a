/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accounting and limit of the memory the module holds, and memory of any size; memory.c.
 */
#ifndef MTAG_MEMORY_H
#define MTAG_MEMORY_H

#include <linux/types.h>

int __must_check mtag_memory_charge(size_t bytes);
void mtag_memory_charge_unlimited(size_t bytes);
void mtag_memory_uncharge(size_t bytes);
void *mtag_memory_get(size_t bytes, gfp_t gfp);
void *mtag_memory_alloc(size_t bytes, gfp_t gfp);
void mtag_memory_free(const void *p, size_t bytes);
void *mtag_memory_table(size_t bytes);
void mtag_memory_table_free(void *p, size_t bytes);

#endif /* MTAG_MEMORY_H */
