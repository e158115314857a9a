/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts of system calls that change the address space, by tag; calls.c.
 */
#ifndef MTAG_CALLS_H
#define MTAG_CALLS_H

#include <linux/atomic.h>
#include <linux/types.h>

struct mtag_space;

enum mtag_call {
	MTAG_MMAP, MTAG_MUNMAP, MTAG_MREMAP, MTAG_BRK, MTAG_SHMAT, MTAG_SHMDT, MTAG_CALLS
};

/**
 * struct mtag_calls - calls of threads under a tag
 * @nr:		how many; by enum mtag_call
 * @bytes:	of how many bytes; likewise
 */
struct mtag_calls {
	atomic64_t nr[MTAG_CALLS];
	atomic64_t bytes[MTAG_CALLS];
};

void mtag_calls_init(struct mtag_space *s);
void mtag_calls_free(struct mtag_space *s);
void mtag_calls_count(struct mtag_space *s, u32 tag, enum mtag_call call, u64 bytes);
bool mtag_calls_read(struct mtag_space *s, u32 tag, u64 nr[MTAG_CALLS], u64 bytes[MTAG_CALLS]);
unsigned long mtag_calls_next(struct mtag_space *s, unsigned long tag);
void mtag_calls_give(struct mtag_space *s, u32 tag, u32 to);

#endif /* MTAG_CALLS_H */
