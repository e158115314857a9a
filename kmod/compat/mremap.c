// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks on the parts of mremap(): growing a mapping in place, and moving its
 * page tables.
 */
#include "../caller.h"
#include "../event.h"
#include "adapt.h"
#include "compat.h"

#if MTAG_SINCE(6, 6)
/* vma_merge_extend(vmi, vma, delta) */
MTAG_HOOK_FUNC(mtag_mremap_grow)
{
	const struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);

	mtag_event_grown(vma->vm_end, vma->vm_end + mtag_arg2(fregs));
}
#else
/* vma_merge(mm, prev, addr, end, …), which has other callers, too */
MTAG_HOOK_FUNC(mtag_mremap_grow)
{
	if (mtag_caller_of(parent_ip) == MTAG_BY_MREMAP)
		mtag_event_grown(mtag_arg2(fregs), mtag_arg3(fregs));
}
#endif

#if MTAG_SINCE(6, 16)
/*
 * The first members of struct pagetable_move_control in mm/internal.h.
 */
struct move_control {
	struct vm_area_struct *old;
	struct vm_area_struct *new;
	unsigned long old_addr;
	unsigned long old_end;
	unsigned long new_addr;
};

/* move_page_tables(pmc) */
MTAG_HOOK_FUNC(mtag_mremap_move)
{
	const struct move_control *pmc = (struct move_control *)mtag_arg0(fregs);

	mtag_event_moved(pmc->new, pmc->old_addr, pmc->new_addr, pmc->old_end - pmc->old_addr);
}
#else
/* move_page_tables(vma, old_addr, new_vma, new_addr, len, …) */
MTAG_HOOK_FUNC(mtag_mremap_move)
{
	mtag_event_moved((struct vm_area_struct *)mtag_arg2(fregs), mtag_arg1(fregs),
			 mtag_arg3(fregs), mtag_arg4(fregs));
}
#endif
