/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_SAMPLER_H
#define MTAG_LIB_HEAP_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "area.h"

/* Starts the countdown anew that is below 0. Returns false if it was not, for the thread is new. */
bool mtag__sampler_due(void);

/*
 * Bytes that are drawn for an object beside those that it has: about what the smallest chunk takes. So no
 * sample stands for more objects than period / MTAG__OBJECT, or a few tiny ones would decide how many
 * there seem to be.
 */
#define MTAG__OBJECT 32

/* Notes an object: @drawn bytes have been taken from the countdown for it. Keeps errno. */
void mtag__sampler_add(void *p, size_t asked, size_t drawn);

/*
 * Forgets an object; returns false if it is none of the samples, else what was known. @lives: realloc() is about to keep
 * it, so that a sample which cannot be taken now will count as lost. Keeps errno.
 */
bool mtag__sampler_take(void *p, bool lives, struct mtag_heap_sample *sample);

/*
 * Notes again an object that was taken for realloc(), which it has survived as @p, with @drawn bytes
 * in all, @more than before. It may cease to be a sample by having become smaller.
 */
void mtag__sampler_moved(struct mtag_heap_sample *sample, void *p, size_t asked, size_t drawn,
			 size_t more);

/* What was taken has been freed. Keeps errno. */
void mtag__sampler_freed(const struct mtag_heap_sample *sample);

/* Notes again, unchanged, what was taken. */
void mtag__sampler_put_back(struct mtag_heap_sample *sample);

/* A thread is about to fork, and has done so, in the parent or in the child. */
void mtag__sampler_fork(void);
void mtag__sampler_forked(bool child);

/* Whose an object is, if the allocator knows. */
extern uint32_t (*mtag__sampler_owner)(const void *p);

/*
 * Called when a sample has come or gone, with the bytes that it stands for, and no lock held but what
 * a signal handler may have interrupted.
 */
extern void (*mtag__sampler_tick)(uint64_t bytes);

#endif
