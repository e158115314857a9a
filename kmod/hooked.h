/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hooked function of the kernel, and the form that all hooks have.
 */
#ifndef MTAG_HOOKED_H
#define MTAG_HOOKED_H

#include <linux/ftrace.h>
#include <linux/types.h>

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

/* All hooks are of this form. */
#define MTAG_HOOK_FUNC(func) \
	void func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, \
		  struct ftrace_regs *fregs)

#endif /* MTAG_HOOKED_H */
