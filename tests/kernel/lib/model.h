/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests of large folios: the test records the owner of each page, and pagemap says where the page is now.
 * Together they tell what every tag must have, whatever the kernel did with the folios.
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

/* Finds out where each page of a model is. The zero page and guards count as NOWHERE. */
void look(const struct model *m, uint8_t *where);

/* Bytes of a range that are in folios of exactly that size. */
size_t in_folios(const char *p, size_t len, size_t size);

/* Creates a tag that agree() checks. */
mtag_t model_tag(const char *name);

struct model *model_of(int n, char *p, size_t len);

/* Call it after look(): pages that have come since then belong to @as. */
void came(struct model *m, const uint8_t *before, mtag_t as);

/* Touches n pages, step pages apart. All that the kernel maps for it belongs to the tag. */
void touch_pages(struct model *m, mtag_t as, size_t from, size_t n, size_t step);

/* Calls mremap under @as, which gets nothing for it. @flags are added to MREMAP_MAYMOVE and MREMAP_FIXED. */
void move_pages_to(struct model *to, size_t at, struct model *m, size_t from, size_t n, int flags,
		   mtag_t as);

/* Checks that every tag has exactly the pages that the model gives it, and I1, I2 and I3. */
PRINTF(1, 2) bool agree(const char *format, ...);

void model_end(int n);

#endif
