/* SPDX-License-Identifier: GPL-2.0 */
/* What mtag says about the calling process by ioctl, and how that compares with the truth. */
#ifndef MTAG_TESTS_TOLD_H
#define MTAG_TESTS_TOLD_H

#include "truth.h"

/* /dev/mtag, opened once; negative: it cannot be opened. */
int mtag_fd(void);

/* MTAG_IOC_* on the calling process: 0 or -errno. */
int mtag_ioctl(unsigned long request, void *arg);

struct usage {
	uint64_t c[MTAG_C_NR];
};

int usage_get(mtag_t tag, struct usage *u);
struct usage usage(mtag_t tag);
uint64_t c(mtag_t tag, int counter);

#define anon_of(tag)  c(tag, MTAG_C_ANON)
#define file_of(tag)  c(tag, MTAG_C_FILE)
#define shmem_of(tag) c(tag, MTAG_C_SHMEM)
#define swap_of(tag)  c(tag, MTAG_C_SWAP)
#define virt_of(tag)  c(tag, MTAG_C_VIRT)

/* Sums over all tags of the calling process. Ids are consecutive. */
struct usage usage_sum(void);

uint64_t resident(const struct usage *u);

/* What mtag and the kernel say about the calling process once both have stopped changing. */
struct compared {
	struct truth truth;
	struct usage sum;
	bool equal;
};

struct compared compare(void);
void show_compared(const struct compared *c);

/* For a process that reports by its exit status: compares, and shows what differs. */
bool compares_equal(void);

/* Checks I1, I2 and I3 for the calling process. Nothing else may change it meanwhile. */
PRINTF(1, 2) bool exact(const char *format, ...);

/* Checks I4: a tag has exactly the anonymous pages and swap entries that smaps shows in a range. */
PRINTF(4, 5) bool owns(mtag_t tag, const void *start, size_t len, const char *format, ...);

#endif
