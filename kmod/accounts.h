/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The accounts of a space: their shape and their memory; accounts.c.
 */
#ifndef MTAG_ACCOUNTS_H
#define MTAG_ACCOUNTS_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/gfp_types.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct mtag_space;
struct mtag_tree;

enum mtag_kind { MTAG_ANON, MTAG_FILE, MTAG_SHMEM, MTAG_SWAP, MTAG_KINDS };
#define MTAG_RESIDENT_KINDS	MTAG_SWAP	/* those before it */

/**
 * struct mtag_account - the record of a (space, tag)
 * @nr:		pages by kind, modulo 2^32: what CPUs have cached is yet to be added (an account
 *		can hold up to 8 TiB). Lock of the account, see stock.h
 * @touched:	pages first touched, cumulative; likewise
 * @peak:	pages, highest anon + file + shmem noticed; lock of the account
 * @known:	see mtag_tree_sees(); tree->lock
 *
 * Two of them share a cache line.
 */
struct mtag_account {
	u32 nr[MTAG_KINDS];
	u64 touched;
	u32 peak;
	bool known;
};

static_assert(sizeof(struct mtag_account) == 32);

/**
 * struct mtag_sum - the numbers of an account: its record, and what CPUs have yet to add
 * @nr:		pages by kind
 * @touched:	pages first touched, cumulative
 * @peak:	pages, highest anon + file + shmem noticed
 */
struct mtag_sum {
	s64 nr[MTAG_KINDS];
	u64 touched;
	u64 peak;
};

#define MTAG_CHUNK_TAGS		32U
#define MTAG_CHUNK_SHIFT	ilog2(MTAG_CHUNK_TAGS)

/* The accounts of consecutive tags, by tag % MTAG_CHUNK_TAGS. */
struct mtag_chunk {
	struct mtag_account account[MTAG_CHUNK_TAGS];
};

/**
 * struct mtag_accounts - the chunks of a space; replaced by a larger array when full
 * @rcu:	frees the array, not the chunks
 * @space:	whose accounts these are; constant
 * @nr_tags:	ids below this have an account; grows after their accounts are in place, by
 *		smp_store_release() under tree->lock
 * @nr_chunks:	used entries of @chunks; tree->lock
 * @room:	entries of @chunks; constant
 * @chunks:	by tag / MTAG_CHUNK_TAGS; added under tree->lock before @nr_tags covers them
 */
struct mtag_accounts {
	struct rcu_head rcu;
	struct mtag_space *space;
	unsigned int nr_tags;
	unsigned int nr_chunks;
	unsigned int room;
	struct mtag_chunk *chunks[];
};

/* The account of @tag, which must be below @acc->nr_tags. */
static inline struct mtag_account *mtag_accounts_of(const struct mtag_accounts *acc,
						    unsigned int tag)
{
	return &acc->chunks[tag >> MTAG_CHUNK_SHIFT]->account[tag & (MTAG_CHUNK_TAGS - 1)];
}

/* The number of tags that have an account in @acc. */
static inline unsigned int mtag_accounts_nr(const struct mtag_accounts *acc)
{
	/* Pairs with mtag_accounts_extend(). */
	return smp_load_acquire(&acc->nr_tags);
}

struct mtag_accounts *mtag_accounts_alloc(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp);
void mtag_accounts_free(struct mtag_accounts *acc);
int mtag_accounts_reserve(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp);
void mtag_accounts_extend(struct mtag_space *s, unsigned int nr_tags);
int mtag_accounts_reserve_all(struct mtag_tree *tree, struct mtag_space *own, unsigned int nr_tags,
			      gfp_t gfp);
void mtag_accounts_extend_all(struct mtag_tree *tree, struct mtag_space *own, unsigned int nr_tags);

#endif /* MTAG_ACCOUNTS_H */
