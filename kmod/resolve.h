/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the kernel, found by name; resolve.c.
 */
#ifndef MTAG_RESOLVE_H
#define MTAG_RESOLVE_H

/* A compiler changes what a function takes, or leaves only part of it to be called. */
#define MTAG_SUFFIXES "", ".isra.0", ".constprop.0", ".part.0"

int mtag_resolve(const char *name, unsigned long *addr);
int mtag_resolve_range(const char *name, const char *suffix, unsigned long *start,
		       unsigned long *end);
void mtag_resolve_end(void);
int mtag_resolve_all(const char *const names[], unsigned long at[], int nr);

#endif /* MTAG_RESOLVE_H */
