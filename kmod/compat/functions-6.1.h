/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 6.1 has of its own beside functions-all.h.
 */
#include "functions-all.h"

HOOK("page_add_new_anon_rmap", mtag_rmap_new_anon, .direct = mtag_entry_new_anon)
CALLED("page_remove_rmap", "try_to_unmap_one try_to_migrate_one")
HOOK("page_remove_rmap", mtag_rmap_remove, .direct = mtag_entry_remove)
HOOK("page_add_anon_rmap", mtag_page_add_anon)
HOOK("page_add_file_rmap", mtag_rmap_add_file, .direct = mtag_entry_add_file)
HOOK("swap_readpage", mtag_swap_read)
HOOK("free_swap_and_cache", mtag_swap_free, .direct = mtag_entry_swap_free)
CALLED("folio_migrate_flags", "folio_migrate_copy migrate_folio_extra")
CALLED("unmap_page_range", "unmap_single_vma")
HOOK("unmap_page_range", mtag_swap_zap, .direct = mtag_entry_zap)
CALLED("move_page_tables", "move_vma")
HOOK("move_page_tables", mtag_mremap_move)
CALLED("vma_merge", "mmap_region copy_vma")
HOOK("vma_merge", mtag_mremap_grow)

CALLER("__handle_mm_fault", MTAG_BY_FAULT)
CALLER("do_set_pte", MTAG_BY_TOUCH)
CALLER("unmap_page_range", MTAG_BY_ZAP)
CALLER("wp_page_copy", MTAG_BY_COPY)
CALLER("__replace_page", MTAG_BY_REPLACE)
CALLER("mmap_region", MTAG_BY_MMAP)
CALLER("shmem_undo_range", MTAG_BY_SHMEM)
PART("handle_pte_fault", MTAG_BY_FAULT)
PART("do_anonymous_page", MTAG_BY_FAULT)
PART("copy_present_pte", MTAG_BY_FORK)
CALLER("__x64_sys_mremap", MTAG_BY_MREMAP)
CALLER("__ia32_sys_mremap", MTAG_BY_MREMAP)
CALLER("__do_sys_mremap", MTAG_BY_MREMAP)

/* PREEMPT_RT has no huge pages. */
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
CALLED("collapse_huge_page", "hpage_collapse_scan_pmd")
HOOK("collapse_huge_page", mtag_collapse_begin)

CALLER("do_huge_pmd_anonymous_page", MTAG_BY_FAULT)
CALLER("zap_huge_pmd", MTAG_BY_ZAP)
CALLER("do_set_pmd", MTAG_BY_TOUCH)
CALLER("collapse_pte_mapped_thp", MTAG_BY_ZAP)
CALLER("set_pmd_migration_entry", MTAG_BY_MIGRATE)
CALLER("remove_migration_pmd", MTAG_BY_RESTORE)
CALLER("collapse_huge_page", MTAG_BY_COLLAPSE)
CALLER("__split_huge_pmd", MTAG_BY_SPLIT)
PART("__do_huge_pmd_anonymous_page", MTAG_BY_FAULT)
PART("__collapse_huge_page_copy", MTAG_BY_COLLAPSE)
PART("__split_huge_pmd_locked", MTAG_BY_SPLIT)
#endif
