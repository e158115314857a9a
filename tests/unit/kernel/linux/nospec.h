/* SPDX-License-Identifier: GPL-2.0 */
/* See types.h: bounds that hold in speculation as well. Costs what it costs in the kernel. */
#ifndef UNIT_LINUX_NOSPEC_H
#define UNIT_LINUX_NOSPEC_H

#include <linux/types.h>

static inline u64 array_index_nospec(u64 index, u64 size)
{
	u64 mask;

	__asm__ volatile("cmp %1,%2; sbb %0,%0" : "=r"(mask) : "g"(size), "r"(index) : "cc");
	return index & mask;
}

#endif
