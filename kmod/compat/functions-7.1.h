/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 7.1, 7.2 and 7.3 have of their own beside functions-puds.h.
 */
#include "functions-puds.h"

HOOK("swap_put_entries_direct", mtag_swap_free, .direct = mtag_entry_swap_free)
CALLED("__zap_vma_range", "unmap_vmas zap_vma_for_reaping zap_vma_range_batched")
HOOK("__zap_vma_range", mtag_swap_zap, .direct = mtag_entry_zap)

CALLER("map_anon_folio_pte_nopf", MTAG_BY_MAP)
CALLER("__zap_vma_range", MTAG_BY_ZAP)
CALLER("uprobe_write", MTAG_BY_ZAP)

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
CALLED("collapse_huge_page", "collapse_single_pmd")

CALLER("map_anon_folio_pmd_nopf", MTAG_BY_MAP)
CALLER("try_collapse_pte_mapped_thp", MTAG_BY_ZAP)
#endif
