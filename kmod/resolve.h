/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lookup of kernel functions by name; resolve.c.
 */
#ifndef MTAG_RESOLVE_H
#define MTAG_RESOLVE_H

/* The compiler may change a function's arguments or split off a part that is called alone. */
#define MTAG_SUFFIXES "", ".isra.0", ".constprop.0", ".part.0", ".constprop.0.isra.0"

int mtag_resolve_init(void);
int mtag_resolve(const char *name, unsigned long *addr);
bool mtag_resolve_range(const char *name, const char *suffix, unsigned long *start,
			unsigned long *end);
void mtag_resolve_end(void);
int mtag_resolve_all(const char *const names[], unsigned long at[], int nr);

#endif /* MTAG_RESOLVE_H */
