/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hooks: which kernel functions mtag listens to, and who called them.
 */
#ifndef MTAG_HOOK_H
#define MTAG_HOOK_H

#include <linux/ftrace.h>
#include <linux/mm_types.h>
#include <linux/seq_file.h>
#include <linux/types.h>

/*
 * enum mtag_caller - what a page event is about, told by its caller
 */
enum mtag_caller {
	MTAG_BY_OTHER,		/* nothing special: first touch, or the end of a mapping */
	MTAG_BY_FAULT,		/* first touch by the fault handler: the commonest */
	MTAG_BY_TOUCH,		/* first touch of another kind */
	MTAG_BY_MAP,		/* first touch by the fault handler, or a collapse */
	MTAG_BY_ZAP,		/* munmap, exit, truncation */
	MTAG_BY_COPY,		/* copy-on-write: adds the copy, then removes the original */
	MTAG_BY_REPLACE,	/* uprobes: likewise */
	MTAG_BY_SWAPIN,		/* do_swap_page(), swapoff */
	MTAG_BY_UNMAP,		/* reclaim */
	MTAG_BY_MIGRATE,	/* migration takes the page away … */
	MTAG_BY_RESTORE,	/* … and brings it back */
	MTAG_BY_COLLAPSE,	/* small pages into a huge one */
	MTAG_BY_FORK,		/* a pinned page is copied to the child */
	MTAG_BY_SPLIT,		/* a huge page is split for migration */
	MTAG_BY_KSM,		/* merging */
	MTAG_BY_LAZYFREE,	/* madvise(MADV_FREE) frees swap entries */
	MTAG_BY_MMAP,		/* a mapping is made */
	MTAG_BY_MREMAP,		/* a mapping grows in place */
};

enum mtag_caller mtag_caller_of(unsigned long parent_ip);

/**
 * struct mtag_hook - a hooked function
 * @name:	of the function
 * @func:	called at its entry
 * @own:	has an ftrace_ops of its own: hot
 * @direct:	what the function calls directly, in place of @func, where it may; or NULL
 * @addr:	of the function, once resolved
 */
struct mtag_hook {
	const char *name;
	ftrace_func_t func;
	bool own;
	void (*direct)(void);
	unsigned long addr;
};

/**
 * struct mtag_caller_name - a function that calls hooked ones
 * @name:	of the function
 * @caller:	what its events are about
 * @part:	of another one here, with which most compilers join it: need not
 *		be found
 */
struct mtag_caller_name {
	const char *name;
	enum mtag_caller caller;
	bool part;
};

/**
 * struct mtag_called - a hooked function that a compiler might inline
 * @name:	of the function
 * @callers:	those of its source file that call it: names separated by spaces
 */
struct mtag_called {
	const char *name;
	const char *callers;
};

/* compat/symbols.c */
int mtag_symbols_init(void);

/* table.c */
extern struct mtag_hook *mtag_hooks;	/* ended by an empty entry */
extern int mtag_nr_hooks;
int mtag_table_init(struct mtag_hook *hooks, const struct mtag_called *called,
		    const struct mtag_caller_name *callers);

/* caller.c */
int mtag_caller_init(const struct mtag_caller_name *c);

/* resolve.c */
int mtag_resolve(const char *name, unsigned long *addr);
int mtag_resolve_range(const char *name, const char *suffix, unsigned long *start,
		       unsigned long *end);
void mtag_resolve_end(void);
int mtag_resolve_all(const char *const names[], unsigned long at[], int nr);
/* A compiler changes what a function takes, or leaves only part of it to be called. */
#define MTAG_SUFFIXES "", ".isra.0", ".constprop.0", ".part.0"

/* inlined.c */
int mtag_inlined_check(const struct mtag_hook *hooks, const struct mtag_called *called);

int mtag_hook_init(void);
void mtag_hook_exit(void);
int mtag_hook_install(void);
void mtag_hook_remove(void);
bool mtag_hook_installed(void);
bool mtag_hook_may_miss(void);
bool mtag_hook_missed(void);
const char *mtag_hook_mode(void);
const char *mtag_hook_name(ftrace_func_t func);
u64 mtag_hook_hits(ftrace_func_t func);
int mtag_hook_show(struct seq_file *m);

/* sleep.c */
void mtag_sleep_allow(void);
void mtag_sleep_forbid(void);

/* A hook that wants to sleep or to allocate asks first, and says when it is done. */
bool mtag_sleep_begin(void);
void mtag_sleep_end(void);
gfp_t mtag_sleep_gfp(bool *sleeps);

/*
 * May a hook allocate and take spinlocks? Not where those sleep and another
 * tracer, sharing the hooked function, has preemption disabled.
 */
static inline bool mtag_sleep_may_lock(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) || preemptible();
}

/* The return addresses of the commonest callers; 0 until one was seen. */
extern unsigned long mtag_fault_ip, mtag_zap_ip, mtag_huge_fault_ip, mtag_huge_zap_ip;

/* rmap.c */
void mtag_rmap_new_anon(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs);
void mtag_rmap_remove(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		      struct ftrace_regs *fregs);

/* follow.c, uffd.c, collapse.c, swap.c, ksm.c, life.c, event.c: all of the same form */
#define MTAG_HOOK_FUNC(func) \
	void func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, \
		  struct ftrace_regs *fregs)

MTAG_HOOK_FUNC(mtag_follow_migrate);
MTAG_HOOK_FUNC(mtag_uffd_ioctl);
MTAG_HOOK_FUNC(mtag_collapse_begin);
MTAG_HOOK_FUNC(mtag_swap_read);
MTAG_HOOK_FUNC(mtag_swap_free);
MTAG_HOOK_FUNC(mtag_swap_zap);
MTAG_HOOK_FUNC(mtag_swap_lazyfree);
MTAG_HOOK_FUNC(mtag_ksm_merge);
MTAG_HOOK_FUNC(mtag_life_exec_begin);
MTAG_HOOK_FUNC(mtag_life_mm_gone);
MTAG_HOOK_FUNC(mtag_life_mm_leave);
MTAG_HOOK_FUNC(mtag_fork_begin);
MTAG_HOOK_FUNC(mtag_fork_copied);
MTAG_HOOK_FUNC(mtag_fork_end);
MTAG_HOOK_FUNC(mtag_naming_rename);
MTAG_HOOK_FUNC(mtag_life_thread_begin);
MTAG_HOOK_FUNC(mtag_life_thread_end);
MTAG_HOOK_FUNC(mtag_event_mmap);
MTAG_HOOK_FUNC(mtag_event_mapped);
MTAG_HOOK_FUNC(mtag_event_munmap);
MTAG_HOOK_FUNC(mtag_event_mremap);
MTAG_HOOK_FUNC(mtag_event_brk);
MTAG_HOOK_FUNC(mtag_event_brk_grow);
MTAG_HOOK_FUNC(mtag_event_shmdt);

/* event.c */
void mtag_event_grown(unsigned long addr, unsigned long end);
void mtag_event_moved(struct vm_area_struct *new_vma, unsigned long from, unsigned long to,
		      unsigned long len);

#endif /* MTAG_HOOK_H */
