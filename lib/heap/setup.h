/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_SETUP_H
#define MTAG_LIB_HEAP_SETUP_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct mtag__operator - an operator of C++; all are in the section MTAG__OPERATORS
 * @name: its symbol
 * @next: gets the operator that would be called without this library; NULL: there is none
 * @entry: gets what is to be called: one of the next three
 * @counting: goes to @next, and counts
 * @without: does without @next
 */
struct mtag__operator {
	const char *name;
	void **next;
	void **entry;
	void *counting;
	void *without;
};
#define MTAG__OPERATORS "mtag_operators"

/*
 * Finds the allocator and decides on the mode, once. Returns false as long as that is not possible:
 * what is allocated until then is early memory.
 */
bool mtag__set_up(void);

/* An allocation that comes so early; it reads as zeros. */
void *mtag__before_set_up(size_t alignment, size_t size);

#endif
