// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for the accounts of a space: chunks of them, and the array of chunks, which grows.
 */
#include <linux/slab.h>
#include "accounts.h"
#include "memory.h"
#include "mtag.h"
#include "state.h"

static void account_chunk_free(struct mtag_chunk *chunk)
{
	kfree(chunk);
	mtag_memory_uncharge(sizeof(*chunk));
}

static struct mtag_chunk *account_chunk_alloc(gfp_t gfp)
{
	struct mtag_chunk *chunk;

	if (mtag_memory_charge(sizeof(*chunk)))
		return NULL;
	chunk = kzalloc(sizeof(*chunk), gfp);
	if (!chunk)
		mtag_memory_uncharge(sizeof(*chunk));
	return chunk;
}

static size_t array_bytes(unsigned int room)
{
	return struct_size((struct mtag_accounts *)NULL, chunks, room);
}

/* Allocates only the array of pointers, for @room chunks. */
static struct mtag_accounts *array_alloc(struct mtag_space *s, unsigned int room, gfp_t gfp)
{
	struct mtag_accounts *acc = mtag_memory_alloc(array_bytes(room), gfp | __GFP_ZERO);

	if (!acc)
		return NULL;
	acc->space = s;
	acc->room = room;
	return acc;
}

static void array_free(struct mtag_accounts *acc)
{
	mtag_memory_free(acc, array_bytes(acc->room));
}

static void array_free_rcu(struct rcu_head *rcu)
{
	array_free(container_of(rcu, struct mtag_accounts, rcu));
}

/* Allocates chunks up to @chunks of them, for which @acc has room. */
static int array_fill(struct mtag_accounts *acc, unsigned int chunks, gfp_t gfp)
{
	struct mtag_chunk *chunk;
	unsigned int i;

	for (i = acc->nr_chunks; i < chunks; i++) {
		chunk = account_chunk_alloc(gfp);
		if (!chunk)
			goto free_chunks;
		acc->chunks[i] = chunk;
	}
	acc->nr_chunks = chunks;
	return 0;
free_chunks:
	while (i-- > acc->nr_chunks)
		account_chunk_free(acc->chunks[i]);
	return -ENOMEM;
}

/**
 * mtag_accounts_alloc() - allocate zeroed accounts for the tags below @nr_tags
 * @s:		space that they are for
 * @nr_tags:	highest id + 1; memory is allocated in chunks
 * @gfp:	allocation flags of the caller's context
 *
 * Return: the accounts, or NULL when memory or its limit is exhausted.
 */
struct mtag_accounts *mtag_accounts_alloc(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp)
{
	unsigned int chunks = DIV_ROUND_UP(nr_tags, MTAG_CHUNK_TAGS);
	struct mtag_accounts *acc = array_alloc(s, chunks, gfp);

	if (!acc)
		return NULL;
	if (array_fill(acc, chunks, gfp)) {
		array_free(acc);
		return NULL;
	}
	acc->nr_tags = nr_tags;
	return acc;
}

/* Context: no CPU has any of them cached. */
void mtag_accounts_free(struct mtag_accounts *acc)
{
	unsigned int i;

	for (i = 0; i < acc->nr_chunks; i++)
		account_chunk_free(acc->chunks[i]);
	array_free(acc);
}

/* Copies @old into an array with room for twice @chunks: O(n) copies in all for n tags. */
static struct mtag_accounts *array_larger(const struct mtag_accounts *old, unsigned int chunks,
					  gfp_t gfp)
{
	unsigned int most = DIV_ROUND_UP(MTAG_ID_MAX + 1, MTAG_CHUNK_TAGS), i;
	struct mtag_accounts *acc;

	acc = array_alloc(old->space, min(2 * chunks, max(chunks, most)), gfp);
	if (!acc)
		return NULL;
	for (i = 0; i < old->nr_chunks; i++)
		acc->chunks[i] = old->chunks[i];
	acc->nr_chunks = old->nr_chunks;
	acc->nr_tags = old->nr_tags;
	return acc;
}

/**
 * mtag_accounts_reserve() - allocate memory for the accounts of all tags below @nr_tags
 * @s:		space
 * @nr_tags:	highest id + 1
 * @gfp:	allocation flags of the caller's context
 *
 * This adds no account yet: see mtag_accounts_extend().
 * Context: tree->lock of the space's tree. May sleep if @gfp allows.
 * Return: 0 or -ENOMEM.
 */
int mtag_accounts_reserve(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp)
{
	unsigned int chunks = DIV_ROUND_UP(nr_tags, MTAG_CHUNK_TAGS);
	struct mtag_accounts *old, *acc;

	lockdep_assert_held(&s->tree->lock);
	old = rcu_dereference_protected(s->accounts, lockdep_is_held(&s->tree->lock));
	if (chunks <= old->nr_chunks)
		return 0;
	acc = chunks <= old->room ? old : array_larger(old, chunks, gfp);
	if (!acc)
		return -ENOMEM;
	if (array_fill(acc, chunks, gfp)) {
		if (acc != old)
			array_free(acc);
		return -ENOMEM;
	}
	if (acc != old) {
		rcu_assign_pointer(s->accounts, acc);
		call_rcu(&old->rcu, array_free_rcu);
	}
	return 0;
}

/**
 * mtag_accounts_extend() - add the accounts of all tags below @nr_tags
 * @s:		space
 * @nr_tags:	highest id + 1; the caller has reserved memory for it
 *
 * Context: tree->lock of the space's tree.
 */
void mtag_accounts_extend(struct mtag_space *s, unsigned int nr_tags)
{
	struct mtag_accounts *acc;

	lockdep_assert_held(&s->tree->lock);
	acc = rcu_dereference_protected(s->accounts, lockdep_is_held(&s->tree->lock));
	if (nr_tags <= acc->nr_tags)
		return;
	/* Pairs with mtag_accounts_nr(), after which the account is found zeroed. */
	smp_store_release(&acc->nr_tags, nr_tags);
}

/**
 * mtag_accounts_reserve_all() - allocate memory for the accounts in every space of a tree
 * @tree:	tree
 * @own:	a space of it that may not be in the list yet
 * @nr_tags:	highest id + 1
 * @gfp:	allocation flags of the caller's context
 *
 * So a page's owner always has an account. On failure no space gets one.
 * Context: tree->lock. May sleep if @gfp allows.
 * Return: 0 or -ENOMEM.
 */
int mtag_accounts_reserve_all(struct mtag_tree *tree, struct mtag_space *own, unsigned int nr_tags,
			      gfp_t gfp)
{
	struct mtag_space *s;
	int ret;

	lockdep_assert_held(&tree->lock);
	list_for_each_entry(s, &tree->spaces, sibling) {
		ret = mtag_accounts_reserve(s, nr_tags, gfp);
		if (ret)
			return ret;
	}
	return mtag_accounts_reserve(own, nr_tags, gfp);
}

/**
 * mtag_accounts_extend_all() - add the accounts in every space of a tree
 * @tree:	tree
 * @own:	as for mtag_accounts_reserve_all(), which the caller has called
 * @nr_tags:	highest id + 1
 *
 * Context: tree->lock.
 */
void mtag_accounts_extend_all(struct mtag_tree *tree, struct mtag_space *own, unsigned int nr_tags)
{
	struct mtag_space *s;

	lockdep_assert_held(&tree->lock);
	list_for_each_entry(s, &tree->spaces, sibling)
		mtag_accounts_extend(s, nr_tags);
	mtag_accounts_extend(own, nr_tags);
}
