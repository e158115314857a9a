/* SPDX-License-Identifier: GPL-2.0 */
/* Tags, and memory to try them on. */
#ifndef MTAG_TESTS_MEMORY_H
#define MTAG_TESTS_MEMORY_H

#include "tap.h"

mtag_t tag(const char *name);

/* The stack that calls made under a tag will need, so that they touch none of it first. */
__attribute__((noinline)) void prefault_stack(void);

/* No huge pages there. A kernel that has none knows no such advice. */
void no_huge(void *p, size_t len);

/* Private anonymous memory between pages that keep it a mapping of its own; base pages only. */
char *area_prot(size_t len, size_t align, int prot);

char *area(size_t len);
bool has_huge_pages(void);

/* Likewise, for huge pages: aligned, and asked for. */
char *huge_area(size_t len);

/* Writes to every page, each with other contents, so that KSM leaves them alone. */
void touch(mtag_t as, void *start, size_t len);

uint64_t read_all(mtag_t as, const void *start, size_t len);

#endif
