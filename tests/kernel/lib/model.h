/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests of large folios: whose each page should be, kept page by page by the test, while pagemap
 * says where the page is now. Both together say what every tag must have, whatever the kernel did
 * with the folios meanwhile.
 */
#ifndef MTAG_TESTS_MODEL_H
#define MTAG_TESTS_MODEL_H

#include "folios.h"
#include "test.h"

#define PAGES_MAX 8192
#define MODELS	  3

/* An area of anonymous memory; pages == 0: none. */
struct model {
	char *p;
	size_t pages;
	mtag_t owner[PAGES_MAX];
};

extern struct model models[MODELS];

enum where {
	NOWHERE,
	RESIDENT,
	SWAPPED,
};

/* Where each page of a model is. The zero page is nowhere, as are guards. */
void look(const struct model *m, uint8_t *where);

/* Bytes of a range that lie in folios of just that size. */
size_t in_folios(const char *p, size_t len, size_t size);

/* A tag that agree() looks at. */
mtag_t model_tag(const char *name);

struct model *model_of(int n, char *p, size_t len);

/* To be called between two look()s: what has come between them is @as's. */
void came(struct model *m, const uint8_t *before, mtag_t as);

/* Touches n pages, step pages apart. Whatever the kernel maps for it belongs to the tag. */
void touch_pages(struct model *m, mtag_t as, size_t from, size_t n, size_t step);

/* mremap under @as, who gets nothing for it. @flags besides MREMAP_MAYMOVE and MREMAP_FIXED. */
void move_pages_to(struct model *to, size_t at, struct model *m, size_t from, size_t n, int flags,
		   mtag_t as);

/* Every tag has just those pages that the model gives it; and I1, I2 and I3 hold. */
PRINTF(1, 2) bool agree(const char *format, ...);

void model_end(int n);

#endif
