/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Check for hooked functions that the compiler has inlined; inlined.c.
 */
#ifndef MTAG_INLINED_H
#define MTAG_INLINED_H

#include <linux/types.h>

struct mtag_hook;

/**
 * struct mtag_called - a hooked function that a compiler might inline
 * @name:	name of the function
 * @callers:	functions of its source file that call it, separated by spaces
 * @inlined:	set where it is inlined into one of them, which is not a failure then; or NULL
 */
struct mtag_called {
	const char *name;
	const char *callers;
	bool *inlined;
};

int mtag_inlined_check(const struct mtag_hook *hooks, const struct mtag_called *called);

#endif /* MTAG_INLINED_H */
