/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_EXACT_H
#define MTAG_LIB_HEAP_EXACT_H

#include <stdint.h>

/* Whether chunks look as exact.c relies on. Returns NULL, or a sentence that says why not. */
const char *mtag__exact_refuse(void);

/* From here on the next allocator is one that counts, in front of the one that was next so far. */
void mtag__exact_begin(void);

/* The tag that owns an object. */
uint32_t mtag__exact_owner(const void *p);

#endif
