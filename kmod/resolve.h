/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lookup of kernel functions by name; resolve.c.
 */
#ifndef MTAG_RESOLVE_H
#define MTAG_RESOLVE_H

#include <linux/static_call.h>

/* The compiler may change a function's arguments or split off a part that is called alone. */
#define MTAG_SUFFIXES "", ".isra.0", ".constprop.0", ".part.0", ".constprop.0.isra.0"

int mtag_resolve_init(void);
int mtag_resolve_probe(const char *name, unsigned long *addr);
void mtag_resolve_end(void);
unsigned long mtag_resolve(const char *name);
bool mtag_resolve_range(const char *name, const char *suffix, unsigned long *start,
			unsigned long *end);
int mtag_resolve_needed(const char *name, unsigned long *addr);

/**
 * mtag_resolve_call() - have a static call go to a function of the kernel that is not exported
 * @call:	name of the static call
 * @function:	symbol
 *
 * Context: as mtag_resolve_needed(). May sleep.
 * Return: as mtag_resolve_needed().
 */
#define mtag_resolve_call(call, function) ({			\
	unsigned long mtag_addr;				\
	int mtag_ret = mtag_resolve_needed(function, &mtag_addr); \
								\
	if (!mtag_ret)						\
		static_call_update(call, (void *)mtag_addr);	\
	mtag_ret;						\
})

#endif /* MTAG_RESOLVE_H */
