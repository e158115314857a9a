/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hides the differences between kernels. No code outside this directory depends
 * on a kernel version: the core uses the helpers defined here and the tables of
 * hooks.
 *
 *   functions-*.h		the hooked functions and their callers
 *   entries.h			what page-table entries say
 *   rmap_page.c, rmap_folio.c	the rmap functions' arguments, before and since 6.8
 *   leaving.c			pages taken away for migration: what rmap does not tell
 */
#ifndef MTAG_COMPAT_H
#define MTAG_COMPAT_H

#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/sched/coredump.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/userfaultfd.h>
#include <linux/user_namespace.h>
#include <linux/version.h>
#include "huge.h"

#if KERNEL_VERSION(6, 19, 0) <= LINUX_VERSION_CODE
#include <linux/leafops.h>
#endif
#if KERNEL_VERSION(7, 2, 0) <= LINUX_VERSION_CODE
#include <linux/sched/exec_state.h>
#endif

/*
 * The kernels in which every change of RSS has been reviewed. On any other mtag
 * might build and even run, but count wrongly, so it is refused here.
 */
#define MTAG_SINCE(major, minor) (KERNEL_VERSION(major, minor, 0) <= LINUX_VERSION_CODE)
#define MTAG_KERNEL_6_1		(MTAG_SINCE(6, 1) && !MTAG_SINCE(6, 2))
#define MTAG_KERNEL_6_12	(MTAG_SINCE(6, 12) && !MTAG_SINCE(6, 13))
#define MTAG_KERNEL_6_16	(MTAG_SINCE(6, 16) && !MTAG_SINCE(6, 17))
#define MTAG_KERNEL_6_17	(MTAG_SINCE(6, 17) && !MTAG_SINCE(6, 18))
#define MTAG_KERNEL_6_18	(MTAG_SINCE(6, 18) && !MTAG_SINCE(6, 19))
#define MTAG_KERNEL_6_19	(MTAG_SINCE(6, 19) && !MTAG_SINCE(6, 20))
#define MTAG_KERNEL_7_0		(MTAG_SINCE(7, 0) && !MTAG_SINCE(7, 1))
#define MTAG_KERNEL_7_1		(MTAG_SINCE(7, 1) && !MTAG_SINCE(7, 2))
#define MTAG_KERNEL_7_2		(MTAG_SINCE(7, 2) && !MTAG_SINCE(7, 3))
#define MTAG_KERNEL_7_3		(MTAG_SINCE(7, 3) && !MTAG_SINCE(7, 4))
#if !MTAG_KERNEL_6_1 && !MTAG_KERNEL_6_12 && !MTAG_KERNEL_6_16 && !MTAG_KERNEL_6_17 && \
	!MTAG_KERNEL_6_18 && !MTAG_KERNEL_6_19 && !MTAG_KERNEL_7_0 && !MTAG_KERNEL_7_1 && \
	!MTAG_KERNEL_7_2 && !MTAG_KERNEL_7_3
#error "mtag does not know how this kernel maps pages: known.sh names the nearest that it does"
#endif

/* Needs MTAG_SINCE(). */
#include "entries.h"

/* ---- hooks ---- */

/* The registers of a hooked function at its entry. */
#if MTAG_SINCE(6, 12)
#define mtag_regs(fregs)	(&arch_ftrace_regs(fregs)->regs)
#else
#define mtag_regs(fregs)	(&(fregs)->regs)
#endif

/* The n-th integer argument of a hooked function. */
#define mtag_arg0(fregs)	(mtag_regs(fregs)->di)
#define mtag_arg1(fregs)	(mtag_regs(fregs)->si)
#define mtag_arg2(fregs)	(mtag_regs(fregs)->dx)
#define mtag_arg3(fregs)	(mtag_regs(fregs)->cx)
#define mtag_arg4(fregs)	(mtag_regs(fregs)->r8)

/* The integer arguments of a hooked function, as many as the hot ones have. */
struct mtag_args {
	unsigned long arg[4];
};

static __always_inline struct mtag_args mtag_args(struct ftrace_regs *fregs)
{
	return (struct mtag_args){
		{ mtag_arg0(fregs), mtag_arg1(fregs), mtag_arg2(fregs), mtag_arg3(fregs) }
	};
}

/* The registers of a kprobe, in the form that the hooks take. */
static __always_inline struct ftrace_regs *mtag_fregs(struct pt_regs *regs)
{
#if MTAG_SINCE(6, 12)
	return (struct ftrace_regs *)container_of(regs, struct __arch_ftrace_regs, regs);
#else
	return container_of(regs, struct ftrace_regs, regs);
#endif
}

/* The address that the probed function returns to. */
static __always_inline unsigned long mtag_kprobe_parent(const struct pt_regs *regs)
{
	return *(unsigned long *)regs->sp;
}

/* Compilers inline rmap into the function that takes pages away for migration: leaving.c. */
#if MTAG_SINCE(6, 16) && defined(CONFIG_PREEMPT_RT)
#define MTAG_LEAVING
#endif

/* Does @task hold mmap_lock for writing? Context: any; @task is only compared. */
static __always_inline bool mtag_is_writer(const struct mm_struct *mm,
					   const struct task_struct *task)
{
#ifdef CONFIG_PREEMPT_RT
	/* Bit 0 says that others wait. */
	unsigned long owner = (unsigned long)READ_ONCE(mm->mmap_lock.rwbase.rtmutex.owner) & ~1UL;
#else
	/* Bit 0 marks a reader, bit 1 keeps waiters from spinning. */
	unsigned long owner = atomic_long_read(&mm->mmap_lock.owner) & ~2UL;
#endif

	return owner == (unsigned long)task;
}

/* madvise(MADV_DONTNEED) takes empty page tables away. */
#define MTAG_CUTS_TABLES	(MTAG_SINCE(6, 14) && IS_ENABLED(CONFIG_PT_RECLAIM))

/* ioctl(UFFDIO_MOVE), where it exists */
#ifdef UFFDIO_MOVE
#define MTAG_UFFDIO_MOVE	((u32)UFFDIO_MOVE)
#else
#define MTAG_UFFDIO_MOVE	0
#endif

/*
 * A live patch and our direct call may share a function; either may come second. The direct call
 * returns to wherever the patch redirects the function. Called with ftrace's locks held.
 */
#if MTAG_SINCE(7, 0)
static inline int mtag_direct_share(struct ftrace_ops *ops, unsigned long ip,
				    enum ftrace_ops_cmd cmd)
#else
static inline int mtag_direct_share(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
#endif
{
	return 0;
}

/*
 * Direct calls: ftrace patches the hooked function to call our code without a trampoline of its
 * own in between.
 */
static inline int mtag_direct_register(struct ftrace_ops *ops, void (*func)(void))
{
#ifndef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	return -EOPNOTSUPP;
#elif MTAG_SINCE(6, 4)
	ops->ops_func = mtag_direct_share;
	return register_ftrace_direct(ops, (unsigned long)func);
#else
	ops->ops_func = mtag_direct_share;
	return register_ftrace_direct_multi(ops, (unsigned long)func);
#endif
}

static inline void mtag_direct_unregister(struct ftrace_ops *ops, void (*func)(void))
{
#ifndef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	return;
#elif MTAG_SINCE(6, 4)
	unregister_ftrace_direct(ops, (unsigned long)func, false);
#else
	unregister_ftrace_direct_multi(ops, (unsigned long)func);
#endif
}

/* For work that may wait and must not hold up our own queue. */
#if MTAG_SINCE(6, 17)
#define mtag_system_wq		system_dfl_wq
#else
#define mtag_system_wq		system_unbound_wq
#endif

/* ---- the hot rmap functions ---- */

/* page_add_new_anon_rmap(page, vma, address); since 6.8 a folio, and flags may follow */
#define mtag_new_page(args)	((struct page *)(args)->arg[0])
#define mtag_new_vma(args)	((struct vm_area_struct *)(args)->arg[1])
#define mtag_new_addr(args)	((args)->arg[2])

#if MTAG_SINCE(6, 8)

/* Does the new folio have more than one page? */
static __always_inline bool mtag_new_is_large(const struct page *page)
{
	return folio_test_large((const struct folio *)page);
}

/* folio_remove_rmap_ptes(folio, page, nr, vma), folio_add_file_rmap_ptes() */
#define mtag_ptes_page(args)	((struct page *)(args)->arg[1])
#define mtag_ptes_nr(args)	((int)(args)->arg[2])
#define mtag_ptes_vma(args)	((struct vm_area_struct *)(args)->arg[3])

/* 0 if the removed page is a single anonymous one not merged by KSM: one branch in the caller. */
static __always_inline u32 mtag_gone_special(const struct mtag_args *args)
{
	u32 mapping = (unsigned long)((struct folio *)args->arg[0])->mapping;

	return ((mapping - 1) & 3) | (u32)(mtag_ptes_nr(args) - 1);
}

#else

/* Huge pages are mapped by other callers. */
static __always_inline bool mtag_new_is_large(const struct page *page)
{
	return false;
}

/* page_remove_rmap(page, vma, compound), page_add_file_rmap() */
#define mtag_ptes_page(args)	((struct page *)(args)->arg[0])
#define mtag_ptes_nr(args)	((u8)(args)->arg[2] ? HPAGE_PMD_NR : 1)
#define mtag_ptes_vma(args)	((struct vm_area_struct *)(args)->arg[1])

/*
 * 0 if the removed page is a single anonymous one not merged by KSM: one branch
 * in the caller. The mapping of a tail page may be anything, so it does not
 * matter. Huge mappings have callers of their own.
 */
static __always_inline u32 mtag_gone_special(const struct mtag_args *args)
{
	const struct page *page = mtag_ptes_page(args);

	/* A page that is not a tail has a pointer in place of compound_head: low two bits clear. */
	return ((u32)((unsigned long)page->mapping - 1) | (u32)page->compound_head) & 3;
}

#endif

/*
 * The index that an anonymous page at the start of @vma has. Since 7.3 that is another than a page
 * of the file has there, where a file is mapped privately.
 */
static __always_inline pgoff_t mtag_anon_pgoff(const struct vm_area_struct *vma)
{
#if MTAG_SINCE(7, 3)
	return vma_start_anon_pgoff(vma);
#else
	return vma->vm_pgoff;
#endif
}

/* The address in @vma of a small anonymous page that KSM has not merged. */
static __always_inline unsigned long mtag_anon_addr(const struct vm_area_struct *vma,
						    const struct page *page)
{
	return vma->vm_start +
	       ((((const struct folio *)page)->index - mtag_anon_pgoff(vma)) << PAGE_SHIFT);
}

/* free_swap_and_cache(entry); since 6.10 free_swap_and_cache_nr(entry, nr) */
#if MTAG_SINCE(6, 10)
#define mtag_swap_free_nr(fregs)	((int)mtag_arg1(fregs))
#else
#define mtag_swap_free_nr(fregs)	1
#endif

/* The page, or the head of the folio, that swap_readpage() or swap_read_folio() reads to. */
#if MTAG_SINCE(7, 3)
#define mtag_swap_read_to(fregs)	((struct page *)mtag_arg1(fregs))
#else
#define mtag_swap_read_to(fregs)	((struct page *)mtag_arg0(fregs))
#endif

/* Since 6.19 one function maps both touched and collapsed huge pages. */
#define MTAG_FAULT_COLLAPSES	MTAG_SINCE(6, 19)

/* ---- pages ---- */

/* The number of mappings of @page, in a small or large folio. */
static inline int mtag_page_mapcount(struct page *page)
{
#if MTAG_SINCE(6, 12)
	struct folio *folio = page_folio(page);
	int mapcount = atomic_read(&page->_mapcount) + 1;

	return folio_test_large(folio) ? mapcount + folio_entire_mapcount(folio) : mapcount;
#else
	return page_mapcount(page);
#endif
}

/*
 * The number of mappings of @page, which is mapped, and whether it has only one, as this kernel's
 * smaps takes them.
 */
static inline int mtag_smaps_mappings(struct page *page, bool *alone)
{
	int mapcount = mtag_page_mapcount(page);

	*alone = mapcount < 2;
#if MTAG_SINCE(6, 15)
	/* Without a count for each page of a large folio, smaps takes the average of the folio. */
	if (IS_ENABLED(CONFIG_NO_PAGE_MAPCOUNT)) {
		struct folio *folio = page_folio(page);
		int entire, parts;

		*alone = !folio_maybe_mapped_shared(folio);
		if (folio_test_large(folio)) {
			entire = folio_entire_mapcount(folio);
			parts = max(folio_large_mapcount(folio) - entire, 0);
			mapcount = entire + DIV_ROUND_CLOSEST(parts, (int)folio_nr_pages(folio));
		}
	}
#endif
	return mapcount;
}

/* Is a page under migration one that smaps takes for a page without other mappings? */
#define MTAG_SMAPS_MOVING_ALONE	!MTAG_SINCE(6, 12)

/* ---- processes ---- */

/* With these fork copies the page tables of a mapping. Since 6.19 the kernel names them. */
#ifdef VM_COPY_ON_FORK
#define MTAG_FORKED		VM_COPY_ON_FORK
#else
#define MTAG_FORKED		(VM_PFNMAP | VM_MIXEDMAP | VM_UFFD_WP)
#endif

/* Does fork copy the page tables of a mapping that is not memory of its own? */
static inline bool mtag_fork_copies(const struct vm_area_struct *vma)
{
	return vma->anon_vma || vma->vm_flags & MTAG_FORKED;
}

/* The kernel's count of pages, with changes cached by tasks. Caller holds a reference on @mm. */
long mtag_compat_rss(struct mm_struct *mm, int member);

/* As mtag_compat_rss(), for an mm that no task runs on: not yet, or no longer. */
static inline long mtag_compat_rss_idle(struct mm_struct *mm, int member)
{
#if MTAG_SINCE(6, 2)
	return percpu_counter_sum(&mm->rss_stat[member]);
#else
	return atomic_long_read(&mm->rss_stat.count[member]);
#endif
}

/* CAP_PERFMON suffices to read /proc/PID/smaps. */
#define MTAG_PERFMON_READS	MTAG_SINCE(6, 15)

/*
 * The user namespace in which @task's program was executed, with a reference; or NULL, and then
 * @dumpable is not filled: whether the program's user may look into it.
 */
static inline struct user_namespace *mtag_task_user_ns(struct task_struct *task, bool *dumpable)
{
	struct user_namespace *ns = NULL;

#if MTAG_SINCE(7, 2)
	const struct task_exec_state *state;

	rcu_read_lock();
	if (READ_ONCE(task->mm)) {
		state = rcu_dereference(task->exec_state);
		*dumpable = READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
		ns = get_user_ns(state->user_ns);
	}
	rcu_read_unlock();
#else
	task_lock(task);
	if (task->mm) {
		*dumpable = get_dumpable(task->mm) == SUID_DUMP_USER;
		ns = get_user_ns(task->mm->user_ns);
	}
	task_unlock(task);
#endif
	return ns;
}

/* Adds 1 to the counter of an eventfd. */
static inline void mtag_eventfd_signal(struct eventfd_ctx *ctx)
{
#if MTAG_SINCE(6, 8)
	eventfd_signal(ctx);
#else
	eventfd_signal(ctx, 1);
#endif
}

/*
 * The user namespace in which the current task's program was executed, with a reference; @dumpable
 * is filled as by mtag_task_user_ns(). The task has just left @mm.
 */
static inline struct user_namespace *mtag_leaving_user_ns(struct mm_struct *mm, bool *dumpable)
{
	struct user_namespace *ns;

#if MTAG_SINCE(7, 2)
	const struct task_exec_state *state;

	rcu_read_lock();
	state = rcu_dereference(current->exec_state);
	*dumpable = READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
	ns = get_user_ns(state->user_ns);
	rcu_read_unlock();
#else
	*dumpable = get_dumpable(mm) == SUID_DUMP_USER;
	ns = get_user_ns(mm->user_ns);
#endif
	return ns;
}

/* Has somebody else begun to take the memory of @mm away, as the OOM reaper does? */
static inline bool mtag_mm_reaped(const struct mm_struct *mm)
{
#if MTAG_SINCE(6, 18)
	return mm_flags_test(MMF_UNSTABLE, mm);
#else
	return test_bit(MMF_UNSTABLE, &mm->flags);
#endif
}

/*
 * A task that runs in @mm: with CONFIG_MEMCG one of the process that @mm was made for, else perhaps
 * of one that shares it. Context: RCU.
 */
static inline struct task_struct *mtag_mm_owner(const struct mm_struct *mm)
{
#ifdef CONFIG_MEMCG
	return rcu_dereference(mm->owner);
#else
	struct task_struct *process, *task;

	for_each_process_thread(process, task)
		if (READ_ONCE(task->mm) == mm && !(task->flags & PF_KTHREAD))
			return task;
	return NULL;
#endif
}

/* The executable file of @mm, with a reference; or NULL. */
static inline struct file *mtag_exe_file(struct mm_struct *mm)
{
	struct file *file;

	rcu_read_lock();
#if MTAG_SINCE(6, 7)
	file = get_file_rcu(&mm->exe_file);
#else
	file = rcu_dereference(mm->exe_file);
	if (file && !get_file_rcu(file))
		file = NULL;
#endif
	rcu_read_unlock();
	return file;
}

/* The path of a mapped file, as its opener sees it: a file system above another maps one below. */
static inline const struct path *mtag_file_path(const struct file *file)
{
#if MTAG_SINCE(6, 8)
	return file_user_path(file);
#else
	return &file->f_path;
#endif
}

#endif /* MTAG_COMPAT_H */
