/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of the hooked functions of this kernel; table.c.
 */
#ifndef MTAG_TABLE_H
#define MTAG_TABLE_H

#include <linux/ftrace.h>
#include "caller.h"
#include "inlined.h"

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

/* Ended by an empty entry. */
extern struct mtag_hook *mtag_hooks;
extern int mtag_nr_hooks;
int mtag_table_init(struct mtag_hook *hooks, const struct mtag_called *called,
		    const struct mtag_caller_name *callers);

#endif /* MTAG_TABLE_H */
