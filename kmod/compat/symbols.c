// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of this kernel that mtag hooks, and their callers.
 */
#include <linux/sched/signal.h>
#include "../hook.h"
#include "compat.h"

struct mtag_hook mtag_hooks[] = {
	{ "page_add_new_anon_rmap", mtag_rmap_new_anon, .own = true },
	{ "page_remove_rmap", mtag_rmap_remove, .own = true },
	{ "page_add_anon_rmap", mtag_rmap_add_anon },
	{ "page_add_file_rmap", mtag_rmap_add_file },
	{ "folio_migrate_flags", mtag_follow_migrate },
	{ "collapse_huge_page", mtag_collapse_begin },
	{ "swap_readpage", mtag_swap_read },
	{ "free_swap_and_cache", mtag_swap_free },
	{ "unmap_page_range", mtag_swap_zap },
	{ "madvise_free_pte_range", mtag_swap_lazyfree },
	{ "try_to_merge_one_page", mtag_ksm_merge },
	{ "insert_vm_struct", mtag_life_exec_begin },
	{ "__mmdrop", mtag_life_mm_drop },
	{ "mm_update_next_owner", mtag_life_mm_leave },
	{ "uprobe_dup_mmap", mtag_life_fork_begin },
	{ "ldt_dup_context", mtag_life_fork_copied },
	{ "uprobe_end_dup_mmap", mtag_life_fork_end },
	{ "mmap_region", mtag_event_mmap },
	{ "perf_event_mmap", mtag_event_mapped },
	{ "__vm_munmap", mtag_event_munmap },
	{ "__x64_sys_mremap", mtag_event_mremap },
	{ "__ia32_sys_mremap", mtag_event_mremap },
	{ "vma_merge", mtag_event_mremap_grow },
	{ "move_page_tables", mtag_event_mremap_move },
	{ "__x64_sys_brk", mtag_event_brk },
	{ "__ia32_sys_brk", mtag_event_brk },
	{ "do_brk_flags", mtag_event_brk_grow },
	{ "ksys_shmdt", mtag_event_shmdt },
	{ }
};

struct mtag_caller_name mtag_callers[] = {
	{ "__handle_mm_fault", MTAG_BY_FAULT },
	{ "do_huge_pmd_anonymous_page", MTAG_BY_FAULT },
	{ "do_set_pte", MTAG_BY_TOUCH },
	{ "mfill_atomic_install_pte", MTAG_BY_TOUCH },
	{ "unmap_page_range", MTAG_BY_ZAP },
	{ "zap_huge_pmd", MTAG_BY_ZAP },
	{ "wp_page_copy", MTAG_BY_COPY },
	{ "__replace_page", MTAG_BY_REPLACE },
	{ "do_swap_page", MTAG_BY_SWAPIN },
	{ "unuse_pte_range", MTAG_BY_SWAPIN },
	{ "try_to_unmap_one", MTAG_BY_UNMAP },
	{ "try_to_migrate_one", MTAG_BY_MIGRATE },
	{ "set_pmd_migration_entry", MTAG_BY_MIGRATE },
	{ "remove_migration_pte", MTAG_BY_RESTORE },
	{ "remove_migration_pmd", MTAG_BY_RESTORE },
	{ "collapse_huge_page", MTAG_BY_COLLAPSE },
	{ "copy_page_range", MTAG_BY_FORK },
	{ "__split_huge_pmd", MTAG_BY_SPLIT },
	{ "try_to_merge_one_page", MTAG_BY_KSM },
	{ "madvise_free_pte_range", MTAG_BY_LAZYFREE },
	{ "mmap_region", MTAG_BY_MMAP },
	{ "__x64_sys_mremap", MTAG_BY_MREMAP },
	{ "__ia32_sys_mremap", MTAG_BY_MREMAP },
	{ "__do_sys_mremap", MTAG_BY_MREMAP },
	{ }
};

/*
 * Each task keeps up to 64 faults' worth of changes to itself; the sum is
 * exact once no fault is under way.
 */
long mtag_compat_rss(struct mm_struct *mm, int member)
{
	long pages = atomic_long_read(&mm->rss_stat.count[member]);
	struct task_struct *p, *t;

	rcu_read_lock();
	for_each_process_thread(p, t) {
		if (READ_ONCE(t->mm) == mm)
			pages += READ_ONCE(t->rss_stat.count[member]);
	}
	rcu_read_unlock();
	return pages;
}
