// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks on the rmap functions since 6.8, which take a folio and say how much of
 * it: by the number of pages or by the page-table level.
 */
#include "compat.h"

#if MTAG_SINCE(6, 8)
#include "../rmap.h"
#include "adapt.h"

#define PUD_NR (HPAGE_PMD_NR << (PUD_SHIFT - PMD_SHIFT))

/* folio_add_anon_rmap_ptes(folio, page, nr, vma, address, flags) */
MTAG_HOOK_FUNC(mtag_folio_add_anon_ptes)
{
	mtag_rmap_added((struct vm_area_struct *)mtag_arg3(fregs), (struct page *)mtag_arg1(fregs),
			mtag_arg4(fregs), (int)mtag_arg2(fregs), parent_ip);
}

/* folio_add_anon_rmap_pmd(folio, page, vma, address, flags) */
MTAG_HOOK_FUNC(mtag_folio_add_anon_pmd)
{
	mtag_rmap_added((struct vm_area_struct *)mtag_arg2(fregs), (struct page *)mtag_arg1(fregs),
			mtag_arg3(fregs), HPAGE_PMD_NR, parent_ip);
}

/* folio_add_file_rmap_pmd(folio, page, vma) */
MTAG_HOOK_FUNC(mtag_folio_add_file_pmd)
{
	mtag_rmap_added_file((struct vm_area_struct *)mtag_arg2(fregs),
			     (struct page *)mtag_arg1(fregs), HPAGE_PMD_NR, parent_ip);
}

/* folio_add_file_rmap_pud(folio, page, vma) */
MTAG_HOOK_FUNC(mtag_folio_add_file_pud)
{
	mtag_rmap_added_file((struct vm_area_struct *)mtag_arg2(fregs),
			     (struct page *)mtag_arg1(fregs), PUD_NR, parent_ip);
}

/* folio_remove_rmap_pmd(folio, page, vma) */
MTAG_HOOK_FUNC(mtag_folio_remove_pmd)
{
	mtag_rmap_gone((struct vm_area_struct *)mtag_arg2(fregs), (struct page *)mtag_arg1(fregs),
		       HPAGE_PMD_NR, parent_ip);
}

/* folio_remove_rmap_pud(folio, page, vma) */
MTAG_HOOK_FUNC(mtag_folio_remove_pud)
{
	mtag_rmap_gone((struct vm_area_struct *)mtag_arg2(fregs), (struct page *)mtag_arg1(fregs),
		       PUD_NR, parent_ip);
}

#endif
