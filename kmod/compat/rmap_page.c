// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks on the rmap functions before 6.8, which take a page: a small one or the
 * head of a huge one.
 */
#include "compat.h"

#if !MTAG_SINCE(6, 8)
#include <linux/rmap.h>
#include "../rmap.h"
#include "adapt.h"

/* page_add_anon_rmap(page, vma, address, flags) */
MTAG_HOOK_FUNC(mtag_page_add_anon)
{
	bool huge = mtag_arg3(fregs) & (__force int)RMAP_COMPOUND;

	mtag_rmap_added((struct vm_area_struct *)mtag_arg1(fregs), (struct page *)mtag_arg0(fregs),
			mtag_arg2(fregs), huge ? HPAGE_PMD_NR : 1, parent_ip);
}

#endif
