/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_NEXT_H
#define MTAG_LIB_HEAP_NEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "hidden.h"

/* The allocator that would be called without this library. Until it is found: functions that find it. */
struct mtag__next {
	void *(*malloc)(size_t size);
	void (*free)(void *p);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *p, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	int (*posix_memalign)(void **p, size_t alignment, size_t size);
	size_t (*usable)(void *p);
};

extern struct mtag__next mtag__next MTAG__HIDDEN;

/* What the program is to be told, also where the allocator does not know malloc_usable_size(). */
size_t mtag__next_usable(void *p);

/* Looks for the allocator; a second call does nothing. */
void mtag__next_find(void);

/* The name of the allocator, for people, and whether it is one of these. */
enum mtag__allocator {
	MTAG__OTHER,
	MTAG__GLIBC,
	MTAG__JEMALLOC,
	MTAG__TCMALLOC,
	MTAG__MIMALLOC,
};
enum mtag__allocator mtag__next_kind(const char **name);

/* Does the program call a malloc() that comes before the one of this library? */
bool mtag__next_bypassed(void);

/* The next function of this name, if it comes from the same file as malloc(); else NULL. */
void *mtag__next_own(const char *name);

/* Memory for those who come before the allocator is found: it is never freed. NULL: none is left. */
void *mtag__early_alloc(size_t alignment, size_t size);

/* Is it of that memory? */
bool mtag__early_has(const void *p);
size_t mtag__early_size(const void *p);

/* The pages of that memory, for the filter. */
const void *mtag__early_begin(size_t *size);

#endif
