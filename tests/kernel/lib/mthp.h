/* SPDX-License-Identifier: GPL-2.0 */
/* Memory made of folios of the size under test, each owned by a known tag. */
#ifndef MTAG_TESTS_MTHP_H
#define MTAG_TESTS_MTHP_H

#include "model.h"

extern mtag_t a, b, d, w, third[3];
extern size_t size, pages_each;
extern char kb[32];

/* An area without advice, which folios of the size in use will fill; nothing is touched yet. */
struct model *empty(int n, size_t len);

size_t some_folios(void);

/* Folios of three tags in turn, each allocated by one touch somewhere in it. */
struct model *folios(int n, size_t len);

void unmap_pages(struct model *m, size_t from, size_t n);

#endif
