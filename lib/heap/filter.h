/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which addresses may be those of samples: free() passes over all others in a few instructions.
 *
 * One byte for each page, of 4 GiB; pages as far apart share one. It counts the samples that begin
 * in the page, and stays at 255 once there. Objects that are freed together lie in few pages: their
 * bytes are in the cache. A second byte, by a hash of the whole address, saves most of the objects
 * that share a page with a sample from a search.
 */
#ifndef MTAG_LIB_HEAP_FILTER_H
#define MTAG_LIB_HEAP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hidden.h"

#define MTAG__FILTER_PAGES (1 << 20)
#define MTAG__FILTER_FINE  (1 << 16)

struct mtag__filter {
	uint8_t pages[MTAG__FILTER_PAGES];
	uint8_t fine[MTAG__FILTER_FINE];
};

extern struct mtag__filter mtag__filter MTAG__HIDDEN;

static inline bool mtag__filter_page(const void *p)
{
	return mtag__filter.pages[(uint32_t)(uintptr_t)p >> 12];
}

static inline uint8_t *mtag__filter_fine(const void *p)
{
	return &mtag__filter
			.fine[((uint64_t)(uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

/* Caller holds the lock of the samples. */
static inline void mtag__filter_count(const void *p, int step)
{
	uint8_t *cells[2] = {&mtag__filter.pages[(uint32_t)(uintptr_t)p >> 12],
			     mtag__filter_fine(p)};
	int i;

	for (i = 0; i < 2; i++) {
		uint8_t n = __atomic_load_n(cells[i], __ATOMIC_RELAXED);

		if (n != UINT8_MAX)
			__atomic_store_n(cells[i], (uint8_t)(n + step), __ATOMIC_RELAXED);
	}
}

#endif
