// SPDX-License-Identifier: GPL-2.0
/*
 * Constants of C for entry.S: kbuild makes offsets.h from them. Not part of the module.
 */
#include <linux/hash.h>
#include <linux/kbuild.h>
#include "../record.h"
#include "../space.h"
#include "compat.h"

int main(void)
{
	DEFINE(MTAG_GOLDEN_RATIO_32, GOLDEN_RATIO_32);
	DEFINE(MTAG_GOLDEN_RATIO_64, GOLDEN_RATIO_64);
	DEFINE(MTAG_HASH_BITS, MTAG_HASH_BITS);
	DEFINE(MTAG_RECORD_BITS, MTAG_RECORD_BITS);
	DEFINE(MTAG_MAPPING_ANON, 1);
	DEFINE(MTAG_PAGE_MAPPING, offsetof(struct page, mapping));
	DEFINE(MTAG_VMA_MM, offsetof(struct vm_area_struct, vm_mm));
#if MTAG_SINCE(6, 2) && !MTAG_SINCE(6, 15)
	DEFINE(MTAG_TASK_IN_PCPU_HOT, offsetof(struct pcpu_hot, current_task));
#endif
#if !MTAG_SINCE(6, 10)
	DEFINE(MTAG_SWAP_FREE_ONE, 1);
#endif
#if MTAG_SINCE(6, 8)
	DEFINE(MTAG_RMAP_OF_FOLIOS, 1);
#endif
	return 0;
}
