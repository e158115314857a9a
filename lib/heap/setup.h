/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_SETUP_H
#define MTAG_LIB_HEAP_SETUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds the allocator and decides on the mode, once. Returns false as long as that is not possible:
 * what is allocated until then is early memory.
 */
bool mtag__set_up(void);

/* An allocation that comes so early; it reads as zeros. */
void *mtag__before_set_up(size_t alignment, size_t size);

#endif
