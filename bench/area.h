/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of known sizes to touch, and how often. */
#ifndef MTAG_BENCH_AREA_H
#define MTAG_BENCH_AREA_H

#include <stdint.h>
#include <sys/mman.h>
#include "clock.h"

#define PG    4096UL
#define HPAGE (2UL << 20)
/* Small enough that most passes end between two timer ticks, 4,000,000 instructions apart. */
#define SMALL  (1UL << 20)
#define HUGE   (8UL << 20)
#define PASSES 20
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#define FORKED (64UL << 20) /* 16,384 pages */

static inline char *map(size_t len, size_t align, int advice)
{
	char *p = must(mmap(NULL, len + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0));

	p += -(uintptr_t)p % align;
	must(madvise(p, len, advice));
	return p;
}

static inline void touch(char *p, size_t len, size_t step)
{
	for (size_t i = 0; i < len; i += step)
		p[i] = 1;
}

#endif
