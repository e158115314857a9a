/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel says of pages, which mtag's answers are compared with: smaps, status, pagemap; bytes.
 */
#ifndef MTAG_TESTS_TRUTH_H
#define MTAG_TESTS_TRUTH_H

#include "tap.h"

struct smaps {
	uint64_t size, rss, anon, swap, huge, vmas;
};

struct smaps smaps(const void *start, size_t len);

struct truth {
	uint64_t rss, anon, virt, swap;
};

/*
 * 6.1 keeps up to 64 faults' worth of counts in the task (SPLIT_RSS_COUNTING), swap entries among
 * them, so VmSwap lags. Zapping a present page gives the calling thread's share back.
 */
void flush_rss(void);

/* Bytes of the calling process that smaps calls resident, though no page is mapped: see t_hwpoison. */
extern uint64_t poisoned_bytes;

/*
 * Not by smaps_rollup: that of 6.1 leaves a mapping out each time that it finds somebody waiting for
 * mmap_lock, as khugepaged does.
 */
struct truth truth_of(pid_t pid);

#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_SWAP	(1ULL << 62)
#define PAGEMAP_PFN	((1ULL << 55) - 1)
#define KPF_ZERO_PAGE	(1ULL << 24)

/* The pagemap words of a range of the calling process. */
uint64_t *pagemap(const void *start, size_t pages, uint64_t *word);

uint64_t pfn_of(const void *address);

/* Bytes of a range that are resident by pagemap, the zero page apart: a truth besides smaps. */
uint64_t present(const void *start, size_t len);

#endif
