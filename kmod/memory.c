// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts for the memory the module holds, and limits it.
 */
#include <linux/mm.h>
#include "memory.h"
#include "mtag.h"
#include "stat.h"

static atomic64_t limited_memory;

/**
 * mtag_memory_charge() - charge @bytes against the module's limit
 * @bytes:	of anything that programs make the module keep, from spaces to unwind tables and
 *		answers under way; per-CPU memory included
 *
 * Return: 0, and the caller must mtag_memory_uncharge(); -ENOMEM at the limit.
 */
int mtag_memory_charge(size_t bytes)
{
	u64 limit = (u64)READ_ONCE(mtag_max_memory_kb) << 10;

	if (!limit)
		limit = (u64)totalram_pages() << PAGE_SHIFT >> 4;
	if (atomic64_add_return(bytes, &limited_memory) > limit) {
		atomic64_sub(bytes, &limited_memory);
		return -ENOMEM;
	}
	atomic64_add(bytes, &mtag_stat.memory);
	return 0;
}

/* Charges objects that have a limit of their own. */
void mtag_memory_charge_unlimited(size_t bytes)
{
	atomic64_add(bytes, &limited_memory);
	atomic64_add(bytes, &mtag_stat.memory);
}

/* Takes back what was charged, within the limit or not. Context: any. */
void mtag_memory_uncharge(size_t bytes)
{
	atomic64_sub(bytes, &limited_memory);
	atomic64_sub(bytes, &mtag_stat.memory);
}
