/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_SAMPLER_H
#define MTAG_LIB_HEAP_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "area.h"
#include "hidden.h"

/**
 * struct mtag__self - what a thread knows of itself
 * @countdown: bytes to pass over before the next sample. 0 in a new thread, so that its first
 *	allocation is noticed
 * @cells: its slot's, if the mode is exact; NULL: it uses those of slot 0
 * @random: state of its random numbers
 * @mask: signals that were blocked when it began
 * @slot: the number of its slot, or 0
 * @tag: its tag as last asked for
 * @begun: it has been here before
 * @busy: it is within this library: what a signal handler or a library function allocates
 *	meanwhile is not sampled
 * @ended: its slot is another's by now
 */
struct mtag__self {
	uint64_t countdown;
	struct mtag_heap_cell *cells;
	uint64_t random;
	uint64_t mask;
	uint32_t slot;
	uint32_t tag;
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

/* Starts the countdown anew that is below 0. Returns false if it was not, for the thread is new. */
bool mtag__sampler_due(void);

/* Notes an object: @drawn of its bytes have been taken from the countdown. Keeps errno. */
void mtag__sampler_add(void *p, size_t asked, size_t drawn);

/* Forgets an object; returns false if it is none of the samples, else what was known. Keeps errno. */
bool mtag__sampler_take(void *p, struct mtag_heap_sample *sample);

/*
 * Notes again an object that was taken for realloc(), which it has survived as @p, with @drawn bytes
 * in all. It may cease to be a sample by having become smaller.
 */
void mtag__sampler_moved(struct mtag_heap_sample *sample, void *p, size_t asked, size_t drawn);

/* Notes again, unchanged, what was taken. */
void mtag__sampler_put_back(struct mtag_heap_sample *sample);

/* A thread is about to fork, and has done so, in the parent or in the child. */
void mtag__sampler_fork(void);
void mtag__sampler_forked(bool child);

/* Whose an object is, if the allocator knows. */
extern uint32_t (*mtag__sampler_owner)(const void *p);

/* Called at each sample, with no lock held but what a signal handler may have interrupted. */
extern void (*mtag__sampler_tick)(void);

/* Does this thread block signals that it did not when it began? It may be in a signal handler. */
bool mtag__sampler_in_handler(void);

#endif
