/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Describes a hooked kernel function, and the prototype of all hooks.
 */
#ifndef MTAG_HOOKED_H
#define MTAG_HOOKED_H

#include <linux/ftrace.h>
#include <linux/types.h>

/**
 * struct mtag_hook - a hooked function
 * @name:	name of the function
 * @func:	called at its entry
 * @direct:	hot: called directly instead of @func where ftrace allows it; or NULL
 * @addr:	address of the function, once resolved
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

#endif /* MTAG_HOOKED_H */
