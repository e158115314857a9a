/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooked functions that a compiler has inlined; inlined.c.
 */
#ifndef MTAG_INLINED_H
#define MTAG_INLINED_H

struct mtag_hook;

/**
 * struct mtag_called - a hooked function that a compiler might inline
 * @name:	of the function
 * @callers:	those of its source file that call it: names separated by spaces
 */
struct mtag_called {
	const char *name;
	const char *callers;
};

int mtag_inlined_check(const struct mtag_hook *hooks, const struct mtag_called *called);

#endif /* MTAG_INLINED_H */
