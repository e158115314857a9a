/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 6.16, 6.17 and 6.18 have of their own beside functions-puds.h.
 */
#include "functions-puds.h"

HOOK("free_swap_and_cache_nr", mtag_swap_free, .direct = mtag_entry_swap_free)
CALLED("unmap_page_range", "unmap_single_vma")
HOOK("unmap_page_range", mtag_swap_zap, .direct = mtag_entry_zap)

CALLER("do_anonymous_page", MTAG_BY_FAULT)
CALLER("unmap_page_range", MTAG_BY_ZAP)
CALLER("uprobe_write_opcode", MTAG_BY_ZAP)
PART("do_zap_pte_range", MTAG_BY_ZAP)
PART("zap_nonpresent_ptes", MTAG_BY_ZAP)
PART("__uprobe_write_opcode", MTAG_BY_ZAP)
/* Since 6.18 */
PART("uprobe_write", MTAG_BY_ZAP)
PART("__uprobe_write", MTAG_BY_ZAP)

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
CALLED("collapse_huge_page", "hpage_collapse_scan_pmd")

CALLER("map_anon_folio_pmd", MTAG_BY_FAULT)
CALLER("collapse_pte_mapped_thp", MTAG_BY_ZAP)
PART("vmf_insert_folio_pmd", MTAG_BY_TOUCH)
PART("vmf_insert_folio_pud", MTAG_BY_TOUCH)
PART("__split_huge_pud_locked", MTAG_BY_ZAP)
#endif
