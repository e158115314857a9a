// SPDX-License-Identifier: GPL-2.0
/*
 * The table of stacks. A stack gets an id when it is first seen, and keeps it until stacks are no
 * longer kept. Two stacks are one only if all of their frames are equal.
 *
 * Hooks add stacks where nothing may be allocated: room is allocated in advance, and again by a
 * work item while half of it is left.
 */
#include <linux/irq_work.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "leaf.h"
#include "memory.h"
#include "mtag.h"
#include "stack.h"
#include "stat.h"
#include "user.h"

#define CHUNK	(256UL << 10)	/* bytes of stacks allocated at once */
#define SPARE	2		/* chunks in advance */
#define CHAIN	64		/* longest chain: a program may try to make it long */

/**
 * struct chunk - room for stacks
 * @next:	the next in the list
 * @used:	bytes in use from @bytes on
 * @bytes:	the stacks
 */
struct chunk {
	struct chunk *next;
	size_t used;
	u8 bytes[] __aligned(8);
};

#define ROOM	(CHUNK - offsetof(struct chunk, bytes))

/* All are constant from mtag_stack_begin() to mtag_stack_end(), except the entries. */
static u64 secrets[2];			/* of the hash, so that no program can choose it */
static unsigned int ids_end;		/* all ids are below it */
static unsigned int nr_chains;		/* a power of 2 */
static u32 *chains;			/* the first id of each chain, or 0 */
static struct mtag_stack **stacks;	/* by id */

/* Changes of the tables, and what follows. Readers take no lock. */
static DEFINE_RAW_SPINLOCK(stack_lock);
static unsigned int nr_stacks;		/* next id */
static struct chunk *filled;		/* the first is being filled */
static struct chunk *spare;		/* empty ones */
static unsigned int nr_spare;

static struct chunk *stack_chunk_alloc(void)
{
	struct chunk *c;

	if (mtag_memory_charge(CHUNK))
		return NULL;
	c = kvmalloc(CHUNK, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!c) {
		mtag_memory_uncharge(CHUNK);
		return NULL;
	}
	c->next = NULL;
	c->used = 0;
	return c;
}

static void stack_chunks_free(struct chunk *c)
{
	struct chunk *next;

	for (; c; c = next) {
		next = c->next;
		mtag_memory_uncharge(CHUNK);
		kvfree(c);
	}
}

static bool needs_spare(void)
{
	return READ_ONCE(nr_spare) < SPARE;
}

/* Adds spare chunks. Return: false without memory. */
static bool fill_spares(void)
{
	struct chunk *c;

	while (needs_spare()) {
		c = stack_chunk_alloc();
		if (!c)
			return false;
		raw_spin_lock(&stack_lock);
		c->next = spare;
		spare = c;
		WRITE_ONCE(nr_spare, nr_spare + 1);
		raw_spin_unlock(&stack_lock);
	}
	return true;
}

static void fill_work(struct work_struct *work)
{
	fill_spares();
}

static DECLARE_WORK(filler, fill_work);

/* Nothing may be woken in a hook. */
static void fill_soon(struct irq_work *work)
{
	queue_work(mtag_wq, &filler);
}

static DEFINE_IRQ_WORK(kick, fill_soon);

/* Room for a stack, or NULL. Context: stack_lock. */
static struct mtag_stack *room_for(size_t bytes)
{
	struct chunk *c = filled;

	lockdep_assert_held(&stack_lock);
	if (!c || ROOM - c->used < bytes) {
		c = spare;
		if (!c)
			return NULL;
		spare = c->next;
		WRITE_ONCE(nr_spare, nr_spare - 1);
		c->next = filled;
		filled = c;
	}
	c->used += bytes;
	return (struct mtag_stack *)(c->bytes + c->used - bytes);
}

/*
 * The hashes match, so the frames nearly always do: compare all of them rather than look for the
 * first difference.
 */
static bool are_equal(const u64 *frames, const u64 *others, unsigned int nr)
{
	u64 different = 0;
	unsigned int i;

	for (i = 0; i + 1 < nr; i += 2)
		different |= (frames[i] ^ others[i]) | (frames[i + 1] ^ others[i + 1]);
	if (i < nr)
		different |= frames[i] ^ others[i];
	return !different;
}

static bool is_same_stack(const struct mtag_stack *stack, u32 hash, const u64 *frames,
			  unsigned int nr, unsigned int why)
{
	return stack->hash == hash && stack->nr == nr && stack->why == why &&
	       are_equal(stack->frames, frames, nr);
}

/* Both halves of the product, so that each bit of both factors counts. */
static u64 fold_product(u64 a, u64 b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
}

/**
 * mtag_stack_mix() - a hash that no program can foresee
 * @value:	what a program may choose
 *
 * The same as long as stacks are kept. Context: any; stacks are kept.
 */
u64 __noendbr mtag_stack_mix(u64 value)
{
	const siphash_key_t key = { { secrets[0], secrets[1] } };

	return siphash_1u64(value, &key);
}

/*
 * Two frames a multiplication, with secrets, as Wang Yi's wyhash: a third of what jhash2() takes.
 * Each first touch from another place than the one before pays that.
 */
static u32 hash_of(const u64 *frames, unsigned int nr, unsigned int why)
{
	u64 hash = secrets[0] ^ (why << 16 | nr);
	unsigned int i;

	for (i = 0; i + 1 < nr; i += 2)
		hash = fold_product(frames[i] ^ secrets[1], frames[i + 1] ^ hash);
	if (i < nr)
		hash = fold_product(frames[i] ^ secrets[1], hash);
	return hash ^ hash >> 32;
}

/* Return: an id; 0 if there is no such stack yet; -ENOSPC: and no room in its chain either. */
static int find_stack(u32 hash, const u64 *frames, unsigned int nr, unsigned int why)
{
	const struct mtag_stack *stack;
	int length = 0;
	u32 id;

	/* Pairs with add_stack(): a stack before its id. */
	for (id = smp_load_acquire(&chains[hash & (nr_chains - 1)]); id; id = stack->next) {
		stack = stacks[id];
		if (is_same_stack(stack, hash, frames, nr, why))
			return id;
		if (++length == CHAIN)
			return -ENOSPC;
	}
	return 0;
}

/* Context: stack_lock. Return: an id; 0 without room. */
static u32 add_stack(u32 hash, const u64 *frames, unsigned int nr, unsigned int why,
		     struct mtag_user *user)
{
	u32 *chain = &chains[hash & (nr_chains - 1)];
	struct mtag_stack *stack;

	lockdep_assert_held(&stack_lock);
	if (!mtag_user_may(user, user->stacks, ids_end - nr_stacks, 1))
		return MTAG_LEAF_NONE;
	stack = room_for(struct_size(stack, frames, nr));
	if (!stack)
		return MTAG_LEAF_NONE;
	*stack = (struct mtag_stack){ .hash = hash, .next = *chain, .nr = nr, .why = why };
	memcpy(stack->frames, frames, nr * sizeof(*frames));
	WRITE_ONCE(stacks[nr_stacks], stack);
	/* Pairs with find_stack(). */
	smp_store_release(chain, nr_stacks);
	user->stacks++;
	return nr_stacks++;
}

/**
 * mtag_stack_intern() - find a stack, or add it
 * @frames:	innermost first
 * @nr:		number of frames, up to MTAG_STACK_DEPTH
 * @why:	why there are no more
 * @user:	whose share of the table a new one uses
 *
 * Context: any but interrupts, with preemption disabled; stacks are kept.
 * Return: its id; MTAG_LEAF_NONE if there is no room.
 */
u32 __noendbr mtag_stack_intern(const u64 *frames, unsigned int nr, unsigned int why,
				struct mtag_user *user)
{
	u32 hash = hash_of(frames, nr, why);
	int id = find_stack(hash, frames, nr, why);

	if (likely(id > 0))
		return id;
	if (id < 0)
		return MTAG_LEAF_NONE;
	raw_spin_lock(&stack_lock);
	/* Another CPU may have been faster. */
	id = find_stack(hash, frames, nr, why);
	if (!id)
		id = add_stack(hash, frames, nr, why, user);
	raw_spin_unlock(&stack_lock);
	if (unlikely(needs_spare()))
		irq_work_queue(&kick);
	return max(id, 0);
}

/* The stack @id, or NULL if it is none. Context: stacks are kept. */
__noendbr const struct mtag_stack *mtag_stack_at(u32 id)
{
	return id >= MTAG_LEAF_FIRST && id < ids_end ? READ_ONCE(stacks[id]) : NULL;
}

/* All ids are below it. Context: stacks are kept; else it may be 0. */
u32 mtag_stack_room(void)
{
	return READ_ONCE(ids_end);
}

static size_t tables_bytes(void)
{
	return ids_end * sizeof(*stacks) + nr_chains * sizeof(*chains);
}

/**
 * mtag_stack_begin() - make the table, for mtag_max_stacks stacks
 *
 * Context: may sleep; serialized by the caller, who owes mtag_stack_end(), even after an error.
 * Return: 0 or -ENOMEM.
 */
int mtag_stack_begin(void)
{
	unsigned int most = clamp(READ_ONCE(mtag_max_stacks), 1U, 1U << 24);
	gfp_t gfp = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;

	ids_end = most + MTAG_LEAF_FIRST;
	nr_chains = roundup_pow_of_two(most);
	if (mtag_memory_charge(tables_bytes())) {
		ids_end = 0;
		return -ENOMEM;
	}
	secrets[0] = get_random_u64();
	secrets[1] = get_random_u64();
	nr_stacks = MTAG_LEAF_FIRST;
	stacks = kvcalloc(ids_end, sizeof(*stacks), gfp);
	chains = kvcalloc(nr_chains, sizeof(*chains), gfp);
	return stacks && chains && fill_spares() ? 0 : -ENOMEM;
}

/* Frees the table. Context: nothing interns or reads stacks; may sleep. */
void mtag_stack_end(void)
{
	irq_work_sync(&kick);
	cancel_work_sync(&filler);
	stack_chunks_free(filled);
	stack_chunks_free(spare);
	filled = NULL;
	spare = NULL;
	nr_spare = 0;
	kvfree(stacks);
	kvfree(chains);
	stacks = NULL;
	chains = NULL;
	if (ids_end)
		mtag_memory_uncharge(tables_bytes());
	ids_end = 0;
}
