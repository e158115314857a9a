/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 6.12 has of its own beside functions-folios.h.
 */
#include "functions-folios.h"

HOOK("free_swap_and_cache_nr", mtag_swap_free, .direct = mtag_entry_swap_free)
CALLED("unmap_page_range", "unmap_single_vma")
HOOK("unmap_page_range", mtag_swap_zap, .direct = mtag_entry_zap)
CALLED("move_page_tables", "move_vma")

CALLER("do_anonymous_page", MTAG_BY_FAULT)
CALLER("unmap_page_range", MTAG_BY_ZAP)
CALLER("__replace_page", MTAG_BY_REPLACE)

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
CALLED("collapse_huge_page", "hpage_collapse_scan_pmd")

CALLER("do_huge_pmd_anonymous_page", MTAG_BY_FAULT)
CALLER("collapse_pte_mapped_thp", MTAG_BY_ZAP)
PART("__do_huge_pmd_anonymous_page", MTAG_BY_FAULT)
#endif
