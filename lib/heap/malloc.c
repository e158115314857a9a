// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The functions of malloc(3), in front of the allocator's.
 *
 * Most calls only advance a countdown, or look at a byte of the filter, and then jump to the
 * allocator: bench/run counts the instructions. All else is slow.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "next.h"
#include "sampler.h"
#include "self.h"
#include "setup.h"
#include "view.h"

#define EXPORT	    __attribute__((visibility("default")))
#define SLOW	    static __attribute__((noinline))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Takes an allocation from the countdown. Is anything to be done about it? */
static inline __attribute__((always_inline)) bool noticed(size_t size)
{
	return UNLIKELY(mtag__countdown(&mtag__self.countdown, size + MTAG__OBJECT));
}

/**
 * enum way - how an allocation goes that was noticed
 * @EARLY: from early memory
 * @PLAIN: as if nothing had been noticed
 * @SAMPLE: as a sample
 */
enum way { EARLY, PLAIN, SAMPLE };

static enum way find_way(void)
{
	if (!mtag__view.mode && !mtag__set_up()) {
		/* The next one is to be noticed, too. */
		mtag__self.countdown = 0;
		return EARLY;
	}
	return mtag__sampler_due() ? SAMPLE : PLAIN;
}

static void *sampled(void *p, size_t size)
{
	if (p)
		mtag__sampler_add(p, size, size + MTAG__OBJECT);
	return p;
}

/* ---- malloc, calloc ---- */

SLOW void *malloc_slowly(size_t size)
{
	void *p;

	switch (find_way()) {
	case EARLY:
		return mtag__before_set_up(0, size);
	case SAMPLE:
		p = mtag__next.malloc(size);
		return sampled(p, size);
	default:
		return mtag__next.malloc(size);
	}
}

/*
 * What this library needs of itself it calls by names of its own: malloc() may be the program's, which calls realloc()
 * here in turn.
 */
static inline void *allocate(size_t size)
{
	if (noticed(size))
		return malloc_slowly(size);
	return mtag__next.malloc(size);
}

EXPORT void *malloc(size_t size)
{
	return allocate(size);
}

SLOW void *calloc_slowly(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes))
		bytes = SIZE_MAX;
	switch (find_way()) {
	case EARLY:
		p = mtag__before_set_up(0, bytes);
		return p ? memset(p, 0, bytes) : NULL;
	case SAMPLE:
		p = mtag__next.calloc(n, size);
		return sampled(p, bytes);
	default:
		return mtag__next.calloc(n, size);
	}
}

EXPORT void *calloc(size_t n, size_t size)
{
	if (noticed(n * size))
		return calloc_slowly(n, size);
	return mtag__next.calloc(n, size);
}

/* ---- free ---- */

SLOW void free_slowly(void *p)
{
	struct mtag_heap_sample sample;
	bool found;

	if (mtag__early_has(p))
		return;
	found = mtag__sampler_take(p, false, &sample);
	mtag__next.free(p);
	if (found)
		mtag__sampler_freed(&sample);
}

static inline void release(void *p)
{
	if (UNLIKELY(mtag__filter_page(p)))
		free_slowly(p);
	else
		mtag__next.free(p);
}

EXPORT void free(void *p)
{
	release(p);
}

EXPORT void free_sized(void *p, size_t size);
EXPORT void free_sized(void *p, size_t size)
{
	(void)size;
	release(p);
}

EXPORT void free_aligned_sized(void *p, size_t alignment, size_t size);
EXPORT void free_aligned_sized(void *p, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	release(p);
}

/* ---- realloc ---- */

/* Early memory is not freed: it is filled once. */
static void *move_early(void *p, size_t size)
{
	size_t old = mtag__early_size(p);
	void *moved;

	if (!size)
		return NULL;
	moved = allocate(size);
	return moved ? memcpy(moved, p, old < size ? old : size) : NULL;
}

/*
 * A sample stays one with its owner, as long as it does not shrink; of an object that is none only the
 * bytes by which it grows can become one.
 */
static void *realloc_sampled(void *p, size_t size)
{
	size_t before = mtag__next.usable(p), after;
	struct mtag_heap_sample sample = {0};
	void *moved;

	if (mtag__filter_page(p))
		mtag__sampler_take(p, size > 0, &sample);
	moved = mtag__next.realloc(p, size);
	if (!moved) {
		if (size && sample.address)
			mtag__sampler_put_back(&sample);
		else if (sample.address)
			mtag__sampler_freed(&sample);
		return NULL;
	}
	after = mtag__next.usable(moved);
	if (after < size)
		after = size;
	if (sample.address) {
		mtag__sampler_moved(&sample, moved, size, after + MTAG__OBJECT,
				    after > before ? after - before : 0);
	} else if (after > before) {
		if (mtag__countdown(&mtag__self.countdown, after - before) && mtag__sampler_due())
			mtag__sampler_add(moved, size, after + MTAG__OBJECT);
	}
	return moved;
}

EXPORT void *realloc(void *p, size_t size)
{
	if (!p)
		return allocate(size);
	if (mtag__early_has(p))
		return move_early(p, size);
	return mtag__view.mode ? realloc_sampled(p, size) : mtag__next.realloc(p, size);
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

/* ---- aligned ---- */

static void *allocate_aligned(size_t alignment, size_t size)
{
	void *p;

	if (!noticed(size))
		return mtag__next.memalign(alignment, size);
	switch (find_way()) {
	case EARLY:
		return mtag__before_set_up(alignment, size);
	case SAMPLE:
		p = mtag__next.memalign(alignment, size);
		return sampled(p, size);
	default:
		return mtag__next.memalign(alignment, size);
	}
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	return allocate_aligned(alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	void *p;

	if (!noticed(size))
		return mtag__next.aligned_alloc(alignment, size);
	switch (find_way()) {
	case EARLY:
		return mtag__before_set_up(alignment, size);
	case SAMPLE:
		p = mtag__next.aligned_alloc(alignment, size);
		return sampled(p, size);
	default:
		return mtag__next.aligned_alloc(alignment, size);
	}
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
	enum way way;
	int err;

	if (!noticed(size))
		return mtag__next.posix_memalign(p, alignment, size);
	way = find_way();
	if (way == EARLY) {
		*p = mtag__before_set_up(alignment, size);
		return *p ? 0 : ENOMEM;
	}
	err = mtag__next.posix_memalign(p, alignment, size);
	if (!err && way == SAMPLE)
		sampled(*p, size);
	return err;
}

EXPORT void *valloc(size_t size)
{
	return allocate_aligned((size_t)sysconf(_SC_PAGESIZE), size);
}

EXPORT void *pvalloc(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (size > SIZE_MAX - page) {
		errno = ENOMEM;
		return NULL;
	}
	return allocate_aligned(page, (size + page - 1) & ~(page - 1));
}

/* ---- how large it is ---- */

EXPORT size_t malloc_usable_size(void *p)
{
	if (mtag__early_has(p))
		return mtag__early_size(p);
	return mtag__next_usable(p);
}
