/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The accounts of a space: their shape and their memory; accounts.c.
 */
#ifndef MTAG_ACCOUNTS_H
#define MTAG_ACCOUNTS_H

#include <linux/atomic.h>
#include <linux/gfp_types.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct mtag_space;

enum mtag_kind { MTAG_ANON, MTAG_FILE, MTAG_SHMEM, MTAG_SWAP, MTAG_KINDS };

enum mtag_call {
	MTAG_MMAP, MTAG_MUNMAP, MTAG_MREMAP, MTAG_BRK, MTAG_SHMAT, MTAG_SHMDT, MTAG_CALLS
};

#define MTAG_CHUNK_TAGS		16U
#define MTAG_CHUNK_SHIFT	ilog2(MTAG_CHUNK_TAGS)

/**
 * struct mtag_hot - counters that page events change; per CPU and account
 * @nr:		pages by kind, modulo 2^32: only the sum over CPUs is meaningful
 *		(an account can hold up to 8 TiB). Page-table lock, this CPU
 * @touched:	first touches, cumulative
 */
struct mtag_hot {
	u32 nr[MTAG_KINDS];
	u64 touched;
};

/**
 * struct mtag_cold - the rest of an account
 * @peak:	pages, highest anon + file + shmem noticed
 * @calls:	by enum mtag_call
 * @bytes:	by enum mtag_call
 */
struct mtag_cold {
	atomic64_t peak;
	atomic64_t calls[MTAG_CALLS];
	atomic64_t bytes[MTAG_CALLS];
};

/**
 * struct mtag_chunk - the accounts of 16 consecutive tags
 * @hot:	by tag % 16, for each CPU
 * @known:	bits by tag % 16: see mtag_tree_sees(); tree->lock
 * @cold:	by tag % 16
 */
struct mtag_chunk {
	struct mtag_hot __percpu *hot;
	u16 known;
	struct mtag_cold cold[MTAG_CHUNK_TAGS];
};

/**
 * struct mtag_accounts - the chunks of a space; replaced by a larger one when full
 * @rcu:	frees the arrays, not the chunks
 * @nr_tags:	ids below this have an account; grows after their accounts are in place
 * @nr_chunks:	used entries of @chunks; tree->lock
 * @room:	entries of @chunks; constant. @hot has 16 times as many
 * @chunks:	by tag / 16
 * @hot:	by tag: chunks[i]->hot, which saves the hot path a load
 */
struct mtag_accounts {
	struct rcu_head rcu;
	unsigned int nr_tags;
	unsigned int nr_chunks;
	unsigned int room;
	struct mtag_chunk **chunks;
	struct mtag_hot __percpu *hot[];
};

struct mtag_accounts *mtag_accounts_alloc(unsigned int nr_tags, gfp_t gfp);
void mtag_accounts_free(struct mtag_accounts *acc);
int mtag_accounts_reserve(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp);
void mtag_accounts_extend(struct mtag_space *s, unsigned int nr_tags);

#endif /* MTAG_ACCOUNTS_H */
