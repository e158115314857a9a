/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_TAG_H
#define MTAG_LIB_HEAP_TAG_H

#include <stdint.h>

/*
 * The current tag of the calling thread: by its word, else as the module says. And, unless @stack is
 * NULL, the number of its stack, as struct mtag_heap_sample has it: at the time @now, since where no
 * stacks are taken the module is asked for that at most once a second. Keeps errno.
 */
uint32_t mtag__tag_ask(uint64_t now, uint32_t *stack);

#endif
