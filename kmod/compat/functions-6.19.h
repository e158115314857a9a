/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 6.19 has of its own beside functions-puds.h.
 */
#include "functions-puds.h"

HOOK("free_swap_and_cache_nr", mtag_swap_free, .direct = mtag_entry_swap_free)
CALLED("unmap_page_range", "unmap_single_vma")
HOOK("unmap_page_range", mtag_swap_zap, .direct = mtag_entry_zap)

CALLER("do_anonymous_page", MTAG_BY_FAULT)
CALLER("unmap_page_range", MTAG_BY_ZAP)
CALLER("uprobe_write", MTAG_BY_ZAP)
PART("do_zap_pte_range", MTAG_BY_ZAP)
PART("zap_nonpresent_ptes", MTAG_BY_ZAP)
PART("__uprobe_write", MTAG_BY_ZAP)

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
CALLED("collapse_huge_page", "hpage_collapse_scan_pmd")

CALLER("map_anon_folio_pmd_nopf", MTAG_BY_MAP)
CALLER("collapse_pte_mapped_thp", MTAG_BY_ZAP)
PART("__split_huge_pud_locked", MTAG_BY_ZAP)
#endif
