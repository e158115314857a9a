/* SPDX-License-Identifier: GPL-2.0 */
/* Tags, and memory to try them on. */
#ifndef MTAG_TESTS_MEMORY_H
#define MTAG_TESTS_MEMORY_H

#include "tap.h"

mtag_t tag(const char *name);

/* Touches the stack that calls made under a tag will need, so that they do not touch it first. */
__attribute__((noinline)) void prefault_stack(void);

/* Forbids huge pages there. A kernel without them does not know the advice. */
void no_huge(void *p, size_t len);

/* Private anonymous memory in base pages. Inaccessible pages around it keep it from merging with other mappings. */
char *area_prot(size_t len, size_t align, int prot);

char *area(size_t len);
bool has_huge_pages(void);

/* From here on khugepaged fills no gaps: what is resident stays as it is. */
void no_khugepaged(void);

/* The kernel moves what is in use, so that free pages lie together; 0 if it can. */
int compact_memory(void);

/* As area(), for huge pages: aligned, and with MADV_HUGEPAGE where the kernel has them. */
char *huge_area(size_t len);

/* Writes to every page under a tag. All contents differ, so that KSM merges none. */
void touch(mtag_t as, void *start, size_t len);

uint64_t read_all(mtag_t as, const void *start, size_t len);

/* Has the kernel treat a page as if it had failed in memory. Returns 0, or a negative errno. */
int poison(void *page);

#endif
