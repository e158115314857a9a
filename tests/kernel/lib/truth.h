/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel says about memory, in bytes: smaps, status and pagemap. mtag's answers are compared with it.
 */
#ifndef MTAG_TESTS_TRUTH_H
#define MTAG_TESTS_TRUTH_H

#include "tap.h"

struct smaps {
	uint64_t size, rss, anon, swap, huge, vmas;
};

struct smaps smaps(const void *start, size_t len);

/* The same for any process: sums over its mappings that lie within [start, end). */
struct smaps smaps_of(pid_t pid, const void *start, const void *end);

/*
 * What smaps says of how memory is shared: private pages, and PSS, which each of so many lines has rounded down to
 * KiB. Private pages are whole ones.
 */
struct share {
	uint64_t uss, pss, vmas;
};

struct share share_of(pid_t pid, const void *start, size_t len);

/* One line for the whole process. 6.1 leaves out a mapping there when somebody waits for mmap_lock. */
struct share rollup_of(pid_t pid);

struct truth {
	uint64_t rss, anon, virt, swap;
};

/*
 * 6.1 keeps up to 64 faults' worth of counts in the task (SPLIT_RSS_COUNTING), swap entries among
 * them, so VmSwap lags. Zapping a present page gives the calling thread's share back.
 */
void flush_rss(void);

/* Bytes of the calling process that smaps counts as resident although no page is mapped: see t_hwpoison. */
extern uint64_t poisoned_bytes;

/*
 * Reads smaps, not smaps_rollup: in 6.1 the latter skips a mapping whenever it finds a waiter for mmap_lock, such
 * as khugepaged.
 */
struct truth truth_of(pid_t pid);

/* What the kernel itself has counted, in bytes. Before 6.2 each thread keeps up to 64 faults' worth back. */
uint64_t statm_rss(pid_t pid);

#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_SWAP	(1ULL << 62)
#define PAGEMAP_PFN	((1ULL << 55) - 1)
#define KPF_ZERO_PAGE	(1ULL << 24)

/* The pagemap words of a range of the calling process. */
uint64_t *pagemap(const void *start, size_t pages, uint64_t *word);

uint64_t pfn_of(const void *address);

/* Bytes of a range that pagemap shows as resident, except the zero page: independent of smaps. */
uint64_t present(const void *start, size_t len);

#endif
