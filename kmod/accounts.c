// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for the accounts of a space: chunks of 16, and the array of them, which grows.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "accounts.h"
#include "memory.h"
#include "mtag.h"
#include "state.h"

static size_t chunk_bytes(void)
{
	return sizeof(struct mtag_chunk) +
	       num_possible_cpus() * MTAG_CHUNK_TAGS * sizeof(struct mtag_hot);
}

static void chunk_free(struct mtag_chunk *chunk)
{
	free_percpu(chunk->hot);
	kfree(chunk);
	mtag_memory_uncharge(chunk_bytes());
}

/*
 * The per-CPU allocator may fail for a dying task rather than wait. Retry without sleeping, so
 * that its fork stays tracked.
 */
static struct mtag_hot __percpu *hot_alloc(gfp_t gfp)
{
	const size_t size = MTAG_CHUNK_TAGS * sizeof(struct mtag_hot);
	struct mtag_hot __percpu *hot = __alloc_percpu_gfp(size, __alignof__(struct mtag_hot), gfp);

	if (!hot && fatal_signal_pending(current))
		hot = __alloc_percpu_gfp(size, __alignof__(struct mtag_hot), MTAG_GFP_NOWAIT);
	return hot;
}

static struct mtag_chunk *chunk_alloc(gfp_t gfp)
{
	struct mtag_chunk *chunk;

	if (mtag_memory_charge(chunk_bytes()))
		return NULL;
	chunk = kzalloc(sizeof(*chunk), gfp);
	if (!chunk)
		goto uncharge;
	chunk->hot = hot_alloc(gfp);
	if (!chunk->hot)
		goto free;
	return chunk;
free:
	kfree(chunk);
uncharge:
	mtag_memory_uncharge(chunk_bytes());
	return NULL;
}

static size_t array_bytes(unsigned int room)
{
	return struct_size((struct mtag_accounts *)NULL, hot, room * MTAG_CHUNK_TAGS) +
	       room * sizeof(struct mtag_chunk *);
}

/* Allocates only the arrays of pointers, for @room chunks. */
static struct mtag_accounts *array_alloc(unsigned int room, gfp_t gfp)
{
	struct mtag_accounts *acc;

	if (mtag_memory_charge(array_bytes(room)))
		return NULL;
	/* A single allocation: chunks[] follows hot[]. */
	acc = kvzalloc(array_bytes(room), gfp);
	if (!acc) {
		mtag_memory_uncharge(array_bytes(room));
		return NULL;
	}
	acc->chunks = (struct mtag_chunk **)&acc->hot[room * MTAG_CHUNK_TAGS];
	acc->room = room;
	return acc;
}

static void array_free(struct mtag_accounts *acc)
{
	mtag_memory_uncharge(array_bytes(acc->room));
	kvfree(acc);
}

static void array_free_rcu(struct rcu_head *rcu)
{
	array_free(container_of(rcu, struct mtag_accounts, rcu));
}

static void array_put(struct mtag_accounts *acc, unsigned int i, struct mtag_chunk *chunk)
{
	unsigned int tag;

	acc->chunks[i] = chunk;
	for (tag = 0; tag < MTAG_CHUNK_TAGS; tag++)
		acc->hot[i * MTAG_CHUNK_TAGS + tag] = chunk->hot + tag;
}

/* Allocates chunks up to @chunks of them, for which @acc has room. */
static int array_fill(struct mtag_accounts *acc, unsigned int chunks, gfp_t gfp)
{
	struct mtag_chunk *chunk;
	unsigned int i;

	for (i = acc->nr_chunks; i < chunks; i++) {
		chunk = chunk_alloc(gfp);
		if (!chunk)
			goto undo;
		array_put(acc, i, chunk);
	}
	acc->nr_chunks = chunks;
	return 0;
undo:
	while (i-- > acc->nr_chunks)
		chunk_free(acc->chunks[i]);
	return -ENOMEM;
}

/**
 * mtag_accounts_alloc() - allocate zeroed accounts for the tags below @nr_tags
 * @nr_tags:	highest id + 1; memory is allocated in chunks of 16 accounts
 * @gfp:	also for per-CPU memory
 *
 * Return: the accounts, or NULL when memory or its limit is exhausted.
 */
struct mtag_accounts *mtag_accounts_alloc(unsigned int nr_tags, gfp_t gfp)
{
	unsigned int chunks = DIV_ROUND_UP(nr_tags, MTAG_CHUNK_TAGS);
	struct mtag_accounts *acc = array_alloc(chunks, gfp);

	if (!acc)
		return NULL;
	if (array_fill(acc, chunks, gfp)) {
		array_free(acc);
		return NULL;
	}
	acc->nr_tags = nr_tags;
	return acc;
}

void mtag_accounts_free(struct mtag_accounts *acc)
{
	unsigned int i;

	for (i = 0; i < acc->nr_chunks; i++)
		chunk_free(acc->chunks[i]);
	array_free(acc);
}

/* Copies @old into arrays with room for twice @chunks: O(n) copies in all for n tags. */
static struct mtag_accounts *array_larger(const struct mtag_accounts *old, unsigned int chunks,
					  gfp_t gfp)
{
	unsigned int most = DIV_ROUND_UP(MTAG_ID_MAX + 1, MTAG_CHUNK_TAGS), i;
	struct mtag_accounts *acc = array_alloc(min(2 * chunks, max(chunks, most)), gfp);

	if (!acc)
		return NULL;
	for (i = 0; i < old->nr_chunks; i++)
		array_put(acc, i, old->chunks[i]);
	acc->nr_chunks = old->nr_chunks;
	acc->nr_tags = old->nr_tags;
	return acc;
}

/**
 * mtag_accounts_reserve() - allocate memory for the accounts of all tags below @nr_tags
 * @s:		space
 * @nr_tags:	highest id + 1
 * @gfp:	also for per-CPU memory
 *
 * This adds no account yet: see mtag_accounts_extend().
 * Context: tree->lock of the space's tree. May sleep if @gfp allows.
 * Return: 0 or -ENOMEM.
 */
int mtag_accounts_reserve(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp)
{
	unsigned int chunks = DIV_ROUND_UP(nr_tags, MTAG_CHUNK_TAGS);
	struct mtag_accounts *old, *acc;

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

	acc = rcu_dereference_protected(s->accounts, lockdep_is_held(&s->tree->lock));
	if (nr_tags <= acc->nr_tags)
		return;
	/*
	 * Pairs with the comparison in each lookup of an account, which then finds it
	 * zeroed. The hot path needs no barrier, as x86 keeps loads in order.
	 */
	smp_store_release(&acc->nr_tags, nr_tags);
}
