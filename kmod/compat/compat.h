/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernels: how a hook reads its arguments, which
 * functions are hooked and who calls them. Nothing outside this directory
 * knows a kernel version.
 */
#ifndef MTAG_COMPAT_H
#define MTAG_COMPAT_H

#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#error "mtag: this kernel's rmap functions are not known to mtag; 6.1 is"
#endif

/* The n-th integer argument of a hooked function. */
#define mtag_arg0(fregs)	((fregs)->regs.di)
#define mtag_arg1(fregs)	((fregs)->regs.si)
#define mtag_arg2(fregs)	((fregs)->regs.dx)
#define mtag_arg3(fregs)	((fregs)->regs.cx)
#define mtag_arg4(fregs)	((fregs)->regs.r8)

/* A kprobe's registers in the form that the hooks take. */
static __always_inline struct ftrace_regs *mtag_fregs(struct pt_regs *regs)
{
	return container_of(regs, struct ftrace_regs, regs);
}

/* The address that the probed function returns to. */
static __always_inline unsigned long mtag_kprobe_parent(const struct pt_regs *regs)
{
	return *(unsigned long *)regs->sp;
}

/* Pages by the kernel's own counters, those cached by the tasks of @mm included. */
long mtag_compat_rss(struct mm_struct *mm, int member);

/* The same for an mm that no task runs on yet. */
static inline long mtag_compat_rss_new(struct mm_struct *mm, int member)
{
	return atomic_long_read(&mm->rss_stat.count[member]);
}

/* True if @ip, the address of a hook that fired, is that of the function at @addr. */
static inline bool mtag_same_function(unsigned long ip, unsigned long addr)
{
	return ip - addr < 16;
}

#endif /* MTAG_COMPAT_H */
