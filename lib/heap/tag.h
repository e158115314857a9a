/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_TAG_H
#define MTAG_LIB_HEAP_TAG_H

#include <stdint.h>

#include "hidden.h"

/* From the thread pointer to libmtag's mtag_thread_word, or to a pointer that is always NULL. */
extern intptr_t mtag__tag_offset MTAG__HIDDEN;

/* Looks for libmtag in this process. */
void mtag__tag_find(void);

/* The word of a libmtag that is not found by its name, as the module told. */
extern __thread const uint32_t *mtag__tag_told MTAG__HIDDEN
	__attribute__((tls_model("initial-exec")));

/* The word of the calling thread, which holds its current tag; NULL if it has none that is known. */
static inline const uint32_t *mtag__tag_word(void)
{
	return *(uint32_t **)((char *)__builtin_thread_pointer() + mtag__tag_offset);
}

/* Its current tag by the word; @last if there is none. */
static inline uint32_t mtag__tag_now(uint32_t last)
{
	const uint32_t *word = mtag__tag_word();

	if (!word)
		word = mtag__tag_told;
	return word ? (uint16_t)__atomic_load_n(word, __ATOMIC_RELAXED) : last;
}

/*
 * The current tag of the calling thread: by its word, else by a system call. @last is what is
 * returned if there is no module. Keeps errno.
 */
uint32_t mtag__tag_ask(uint32_t last);

#endif
