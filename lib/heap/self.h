/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_SELF_H
#define MTAG_LIB_HEAP_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "area.h"
#include "hidden.h"

/**
 * struct mtag__self - what a thread knows of itself
 * @countdown: bytes to pass over before the next sample. 0 in a new thread, so that its first
 *	allocation is noticed
 * @cells: its slot's, if the mode is exact; NULL: it uses those of slot 0
 * @random: state of its random numbers
 * @word: where its current tag is: libmtag's word, or @tag. NULL at first
 * @mask: signals that were blocked when it began
 * @slot: the number of its slot, or 0
 * @tag: its tag as last asked for, if it has no word
 * @asked: how often the module was asked for the tag, and it had no word
 * @quiet: samples to come before it is asked again
 * @begun: it has been here before
 * @busy: it is within this library: what a signal handler or a library function allocates
 *	meanwhile is not sampled
 * @ended: its slot is another's by now
 */
struct mtag__self {
	uint64_t countdown;
	struct mtag_heap_cell *cells;
	uint64_t random;
	const uint32_t *word;
	uint64_t mask;
	uint32_t slot;
	uint32_t tag;
	uint8_t asked;
	uint8_t quiet;
	bool begun;
	bool busy;
	bool ended;
};

extern __thread struct mtag__self mtag__self MTAG__HIDDEN
	__attribute__((tls_model("initial-exec")));

/* Takes bytes from a countdown. Returns true if there were fewer: then it is below 0. */
static inline __attribute__((always_inline)) bool mtag__countdown(uint64_t *countdown,
								  uint64_t step)
{
	bool borrow;

#ifdef __x86_64__
	/* gcc would load, subtract and store. */
	__asm__("sub %2, %1" : "=@ccb"(borrow), "+m"(*countdown) : "r"(step));
#else
	borrow = *countdown < step;
	*countdown -= step;
#endif
	return borrow;
}

/* Seeds the calling thread's random numbers, on its first visit. Returns false if it was here. */
bool mtag__self_begin(void);

/* Seeds them anew, in a child of fork(). Returns false if the thread never was here. */
bool mtag__self_seed(void);

/* Does this thread block signals that it did not when it began? It may be in a signal handler. */
bool mtag__self_in_handler(void);

/*
 * libmtag tells where the calling thread's current tag is from now on; NULL: nowhere. It finds this
 * by its name, in whichever way it is linked.
 */
void mtag_heap_word(const uint32_t *word);

#endif
