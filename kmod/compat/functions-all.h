/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that mtag needs of every kernel: those that it hooks, and the
 * callers by which it tells page events apart; functions-*.h add what is a
 * kernel's own. PART: a static function within a caller, which stands by itself
 * only where a compiler or its options were others. No include guard: symbols.c
 * includes this for each thing that it makes of the lists.
 */
HOOK("folio_migrate_flags", mtag_follow_migrate)
HOOK("madvise_free_pte_range", mtag_swap_lazyfree)
HOOK("try_to_merge_one_page", mtag_ksm_merge)
HOOK("insert_vm_struct", mtag_life_exec_begin)
HOOK("__mmdrop", mtag_life_mm_drop)
HOOK("mm_update_next_owner", mtag_life_mm_leave)
HOOK("uprobe_dup_mmap", mtag_life_fork_begin)
HOOK("ldt_dup_context", mtag_life_fork_copied)
HOOK("uprobe_end_dup_mmap", mtag_life_fork_end)
HOOK("wake_up_new_task", mtag_life_thread_begin)
HOOK("flush_ptrace_hw_breakpoint", mtag_life_thread_end)
HOOK("__set_task_comm", mtag_life_rename)
HOOK("mmap_region", mtag_event_mmap)
HOOK("perf_event_mmap", mtag_event_mapped)
HOOK("__x64_sys_munmap", mtag_event_munmap)
HOOK("__ia32_sys_munmap", mtag_event_munmap)
HOOK("__x64_sys_mremap", mtag_event_mremap)
HOOK("__ia32_sys_mremap", mtag_event_mremap)
HOOK("move_page_tables", mtag_mremap_move)
HOOK("__x64_sys_brk", mtag_event_brk)
HOOK("__ia32_sys_brk", mtag_event_brk)
HOOK("do_brk_flags", mtag_event_brk_grow)
HOOK("ksys_shmdt", mtag_event_shmdt)

CALLER("mfill_atomic_install_pte", MTAG_BY_TOUCH)
CALLER("do_swap_page", MTAG_BY_SWAPIN)
CALLER("unuse_pte_range", MTAG_BY_SWAPIN)
CALLER("try_to_unmap_one", MTAG_BY_UNMAP)
CALLER("try_to_migrate_one", MTAG_BY_MIGRATE)
CALLER("remove_migration_pte", MTAG_BY_RESTORE)
CALLER("copy_page_range", MTAG_BY_FORK)
CALLER("try_to_merge_one_page", MTAG_BY_KSM)
CALLER("madvise_free_pte_range", MTAG_BY_LAZYFREE)
PART("unuse_pte", MTAG_BY_SWAPIN)
PART("copy_pte_range", MTAG_BY_FORK)
PART("copy_present_page", MTAG_BY_FORK)
PART("replace_page", MTAG_BY_KSM)
PART("zap_pte_range", MTAG_BY_ZAP)
