/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 6.16 and all later kernels have beside functions-folios.h: rmap is told of
 * huge pages of 1 GiB, too.
 */
#include "functions-folios.h"

HOOK("folio_add_file_rmap_pud", mtag_folio_add_file_pud)
HOOK("folio_remove_rmap_pud", mtag_folio_remove_pud)
CALLED("move_page_tables", "copy_vma_and_data")

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
PART("insert_pmd", MTAG_BY_TOUCH)
PART("insert_pud", MTAG_BY_TOUCH)
PART("zap_huge_pud", MTAG_BY_ZAP)
PART("__split_huge_pud", MTAG_BY_ZAP)
#endif
