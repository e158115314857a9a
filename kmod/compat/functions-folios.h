/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 6.12 and all later kernels have beside functions-all.h: rmap takes folios
 * and numbers of pages.
 */
#include "functions-all.h"

HOOK("folio_add_new_anon_rmap", mtag_rmap_new_anon, .direct = mtag_entry_new_anon)
#ifdef MTAG_LEAVING
CALLED("folio_remove_rmap_ptes", "try_to_unmap_one")
CALLED("folio_remove_rmap_ptes", "try_to_migrate_one", &mtag_leaving_unseen)
#else
CALLED("folio_remove_rmap_ptes", "try_to_unmap_one try_to_migrate_one")
#endif
HOOK("folio_remove_rmap_ptes", mtag_rmap_remove, .direct = mtag_entry_remove)
HOOK("folio_add_anon_rmap_ptes", mtag_folio_add_anon_ptes)
HOOK("folio_add_file_rmap_ptes", mtag_rmap_add_file, .direct = mtag_entry_add_file)
HOOK("swap_read_folio", mtag_swap_read)
CALLED("folio_migrate_flags", "__migrate_folio")
HOOK("userfaultfd_ioctl", mtag_uffd_ioctl)
HOOK("move_page_tables", mtag_mremap_move)
HOOK("vma_merge_extend", mtag_mremap_grow)

CALLER("set_pte_range", MTAG_BY_TOUCH)
CALLER("do_wp_page", MTAG_BY_COPY)
CALLER("__mmap_region", MTAG_BY_MMAP)
CALLER("shmem_free_swap", MTAG_BY_SHMEM)
CALLER("tlb_flush_rmaps", MTAG_BY_FLUSH)
PART("tlb_flush_rmap_batch", MTAG_BY_FLUSH)
PART("copy_present_ptes", MTAG_BY_FORK)
PART("zap_present_ptes", MTAG_BY_ZAP)
PART("zap_present_folio_ptes", MTAG_BY_ZAP)
PART("wp_page_copy", MTAG_BY_COPY)

/* PREEMPT_RT has no huge pages. */
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
HOOK("folio_add_anon_rmap_pmd", mtag_folio_add_anon_pmd)
HOOK("folio_add_file_rmap_pmd", mtag_folio_add_file_pmd)
HOOK("folio_remove_rmap_pmd", mtag_folio_remove_pmd)
HOOK("collapse_huge_page", mtag_collapse_begin)

CALLER("zap_huge_pmd", MTAG_BY_ZAP)
CALLER("do_set_pmd", MTAG_BY_TOUCH)
CALLER("unmap_huge_pmd_locked", MTAG_BY_UNMAP)
CALLER("set_pmd_migration_entry", MTAG_BY_MIGRATE)
CALLER("remove_migration_pmd", MTAG_BY_RESTORE)
CALLER("collapse_huge_page", MTAG_BY_COLLAPSE)
CALLER("split_huge_pmd_locked", MTAG_BY_SPLIT)
PART("__collapse_huge_page_copy", MTAG_BY_COLLAPSE)
PART("__collapse_huge_page_copy_succeeded", MTAG_BY_COLLAPSE)
PART("__split_huge_pmd_locked", MTAG_BY_SPLIT)
#endif
