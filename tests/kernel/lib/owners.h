/* SPDX-License-Identifier: GPL-2.0 */
/* Owners of pages by address, and the area of a heap view, as /dev/mtag tells them. */
#ifndef MTAG_TESTS_OWNERS_H
#define MTAG_TESTS_OWNERS_H

#include "tap.h"

/* All pages of the spans, @room at a time, into @row. Returns 0 or -errno; the test ends if a call makes no progress. */
int owners_of_spans(pid_t pid, const struct mtag_ioc_span *spans, uint32_t nr, uint32_t *row,
		    uint32_t room);

/* The same for one span. */
int owners_of(pid_t pid, const void *start, size_t pages, uint32_t *row);

int heap_set(const void *address, size_t length);

/* Bytes copied, or -errno. */
int64_t heap_read(pid_t pid, uint64_t offset, void *to, size_t length);

#endif
