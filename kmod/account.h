/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of each (space, tag); account.c.
 */
#ifndef MTAG_ACCOUNT_H
#define MTAG_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct mtag_space;

enum mtag_kind { MTAG_ANON, MTAG_FILE, MTAG_SHMEM, MTAG_SWAP, MTAG_KINDS };

enum mtag_call {
	MTAG_MMAP, MTAG_MUNMAP, MTAG_MREMAP, MTAG_BRK, MTAG_SHMAT, MTAG_SHMDT, MTAG_CALLS
};

#define MTAG_PEAK_BATCH		64U	/* pages a CPU may add before it updates the peak */
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

/**
 * struct mtag_sum - an account, folded over CPUs
 * @nr:		pages by kind
 * @touched:	pages first touched, cumulative
 * @peak:	pages, highest anon + file + shmem
 * @calls:	by enum mtag_call
 * @bytes:	by enum mtag_call
 */
struct mtag_sum {
	s64 nr[MTAG_KINDS];
	u64 touched;
	u64 peak;
	u64 calls[MTAG_CALLS];
	u64 bytes[MTAG_CALLS];
};

struct mtag_accounts *mtag_account_alloc(unsigned int nr_tags, gfp_t gfp);
void mtag_account_free(struct mtag_accounts *acc);
int mtag_account_reserve(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp);
void mtag_account_extend(struct mtag_space *s, unsigned int nr_tags);
void mtag_account_add(struct mtag_space *s, unsigned int tag, enum mtag_kind kind, int pages);
void mtag_account_replace(struct mtag_space *s, unsigned int tag);
void mtag_account_touch(struct mtag_space *s, unsigned int tag, int pages);
void mtag_account_peak(struct mtag_space *s, unsigned int tag);
u64 mtag_account_seen(const struct mtag_accounts *acc, unsigned int tag, s64 pages);
void mtag_account_call(struct mtag_space *s, unsigned int tag, enum mtag_call call, u64 bytes);
void mtag_account_fold(const struct mtag_accounts *acc, unsigned int tag, struct mtag_sum *sum);
void mtag_account_set(struct mtag_accounts *acc, unsigned int tag, const s64 nr[MTAG_KINDS]);
void mtag_account_reset_peaks(struct mtag_space *s);
u64 mtag_account_residue(const struct mtag_accounts *acc);
void mtag_account_know(struct mtag_accounts *acc, unsigned int tag);
bool mtag_account_known(const struct mtag_accounts *acc, unsigned int tag);
void mtag_account_inherit(struct mtag_accounts *to, const struct mtag_accounts *from);

#endif /* MTAG_ACCOUNT_H */
