/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that mtag needs in every kernel: those that it hooks, and the
 * callers by which it tells page events apart. functions-folios.h adds those of
 * 6.12 and later kernels, functions-puds.h those of 6.16 and later ones, and
 * functions-VERSION.h those of one version.
 *
 * CALLED: the callers of a hooked function in its own source file, where a
 * compiler might inline it. PART: a static function within a caller, which is
 * a function of its own only under another compiler or other options.
 *
 * No include guard: symbols.c includes this once for each table it builds.
 */
HOOK("try_to_migrate_one", mtag_leaving_begin)
HOOK("folio_migrate_flags", mtag_follow_migrate)
HOOK("madvise_free_pte_range", mtag_swap_lazyfree)
CALLED("try_to_merge_one_page", "ksm_scan_thread try_to_merge_with_ksm_page")
HOOK("try_to_merge_one_page", mtag_ksm_merge)
CALLED("copy_string_kernel", "do_execveat_common kernel_execve")
HOOK("copy_string_kernel", mtag_life_exec_begin)
HOOK("exit_mmap", mtag_life_mm_going)
HOOK("lru_gen_del_mm", mtag_life_mm_gone)
CALLED("mm_update_next_owner", "do_exit")
HOOK("mm_update_next_owner", mtag_life_mm_leave)
CALLED("__oom_kill_process", "oom_kill_process oom_kill_memcg_member")
HOOK("__oom_kill_process", mtag_life_oom_kill)
HOOK("uprobe_dup_mmap", mtag_fork_begin)
HOOK("ldt_dup_context", mtag_fork_copied)
HOOK("uprobe_end_dup_mmap", mtag_fork_end)
HOOK("wake_up_new_task", mtag_life_thread_begin)
HOOK("flush_ptrace_hw_breakpoint", mtag_life_thread_end)
CALLED("__set_task_comm", "begin_new_exec")
HOOK("__set_task_comm", mtag_naming_rename)
CALLED("mmap_region", "do_mmap")
HOOK("mmap_region", mtag_event_mmap)
HOOK("perf_event_mmap", mtag_event_mapped)
HOOK("__x64_sys_munmap", mtag_event_munmap)
HOOK("__ia32_sys_munmap", mtag_event_munmap)
HOOK("__x64_sys_mremap", mtag_event_mremap)
HOOK("__ia32_sys_mremap", mtag_event_mremap)
HOOK("__x64_sys_brk", mtag_event_brk)
HOOK("__ia32_sys_brk", mtag_event_brk)
CALLED("do_brk_flags", "__do_sys_brk vm_brk_flags")
HOOK("do_brk_flags", mtag_event_brk_grow)
CALLED("ksys_shmdt", "__x64_sys_shmdt __ia32_sys_shmdt")
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
PART("mprotect_fixup", MTAG_BY_MPROTECT)
PART("shmem_free_swap", MTAG_BY_SHMEM)
PART("shmem_undo_range", MTAG_BY_SHMEM)
PART("do_mprotect_pkey", MTAG_BY_MPROTECT)
PART("unuse_pte", MTAG_BY_SWAPIN)
PART("insert_page_into_pte_locked", MTAG_BY_TOUCH)
PART("insert_page", MTAG_BY_TOUCH)
PART("vm_insert_page", MTAG_BY_TOUCH)
PART("vm_insert_pages", MTAG_BY_TOUCH)
PART("copy_pte_range", MTAG_BY_FORK)
PART("copy_present_page", MTAG_BY_FORK)
PART("replace_page", MTAG_BY_KSM)
PART("zap_pte_range", MTAG_BY_ZAP)
/* Device memory, if the kernel supports it. */
PART("migrate_vma_collect_pmd", MTAG_BY_MIGRATE)
PART("__migrate_device_pages", MTAG_BY_TOUCH)
