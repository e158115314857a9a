/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Describes a hooked kernel function; the prototype of all hooks, and how they stay on their CPU.
 */
#ifndef MTAG_HOOKED_H
#define MTAG_HOOKED_H

#include <linux/ftrace.h>
#include <linux/preempt.h>
#include <linux/types.h>

/**
 * struct mtag_hook - a hooked function
 * @name:	name of the function
 * @func:	called at its entry
 * @direct:	hot: called directly instead of @func where ftrace allows it; or NULL
 * @addr:	address of the function; resolved at load, and constant after that
 */
struct mtag_hook {
	const char *name;
	ftrace_func_t func;
	void (*direct)(void);
	unsigned long addr;
};

/* The prototype of all hooks. */
#define MTAG_HOOK_FUNC(func) \
	void func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, \
		  struct ftrace_regs *fregs)

/* A page-table lock disables preemption, except on PREEMPT_RT. */
static __always_inline void mtag_cpu_hold(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable_notrace();
}

static __always_inline void mtag_cpu_release(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable_notrace();
}

#endif /* MTAG_HOOKED_H */
