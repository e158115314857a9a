/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of objects, as several kinds of programs may have them, of random numbers. */
#ifndef TESTS_UNIT_HEAP_MIXES_H
#define TESTS_UNIT_HEAP_MIXES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Mostly small, some large, a few so large that they are always samples. */
static size_t some_large(uint64_t n)
{
	switch (n % 32) {
	case 0:
		return n >> 32 & 0x1ffff;
	case 1:
	case 2:
	case 3:
		return n >> 32 & 0x1fff;
	default:
		return n >> 32 & 0xff;
	}
}

static size_t tiny(uint64_t n)
{
	return n >> 32 & 0xf;
}

static size_t alike(uint64_t n)
{
	(void)n;
	return 24;
}

/* Exponential, as lengths of texts are. */
static size_t texts(uint64_t n)
{
	return 8 + (size_t)(-40 * log((double)((n >> 11) + 1) / (double)(UINT64_C(1) << 53)));
}

/* Nodes, and a buffer for each ten: of those nearly each second one is a sample. */
static size_t nodes_and_buffers(uint64_t n)
{
	return (n >> 32) % 10 ? 24 : 4096;
}

/* As many of each power of two as of the next one. */
static size_t powers(uint64_t n)
{
	return (size_t)8 << (n >> 32) % 8;
}

/* Each twice as large is 2.3 times as rare, up to a MiB. */
static size_t heavy_tail(uint64_t n)
{
	double u = (double)((n >> 11) + 1) / (double)(UINT64_C(1) << 53);

	return (size_t)fmin(16 * pow(u, -1 / 1.2), 1 << 20);
}

static const struct mix {
	const char *name;
	size_t (*size)(uint64_t random);
} mixes[] = {{"some large", some_large},
	     {"tiny", tiny},
	     {"all alike", alike},
	     {"texts", texts},
	     {"nodes and buffers", nodes_and_buffers},
	     {"powers of two", powers},
	     {"heavy tail", heavy_tail}};

#endif
