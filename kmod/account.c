// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the counters of each (space, tag): per-CPU counts that page events change
 * and readers fold, and the cold rest (peak, calls).
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "account.h"
#include "memory.h"
#include "mtag.h"
#include "state.h"

#define RESET_BATCH	256U	/* tags between two chances to schedule */

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
 * mtag_account_alloc() - allocate zeroed accounts for the tags below @nr_tags
 * @nr_tags:	highest id + 1; memory is allocated in chunks of 16 accounts
 * @gfp:	also for per-CPU memory
 *
 * Return: the accounts, or NULL when memory or its limit is exhausted.
 */
struct mtag_accounts *mtag_account_alloc(unsigned int nr_tags, gfp_t gfp)
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

void mtag_account_free(struct mtag_accounts *acc)
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
 * mtag_account_reserve() - allocate memory for the accounts of all tags below @nr_tags
 * @s:		space
 * @nr_tags:	highest id + 1
 * @gfp:	also for per-CPU memory
 *
 * This adds no account yet: see mtag_account_extend().
 * Context: tree->lock of the space's tree. May sleep if @gfp allows.
 * Return: 0 or -ENOMEM.
 */
int mtag_account_reserve(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp)
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
 * mtag_account_extend() - add the accounts of all tags below @nr_tags
 * @s:		space
 * @nr_tags:	highest id + 1; the caller has reserved memory for it
 *
 * Context: tree->lock of the space's tree.
 */
void mtag_account_extend(struct mtag_space *s, unsigned int nr_tags)
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

/* The number of tags that have an account in @acc. */
static unsigned int tags_of(const struct mtag_accounts *acc)
{
	/* Pairs with mtag_account_extend(). */
	return smp_load_acquire(&acc->nr_tags);
}

static struct mtag_chunk *chunk_of(const struct mtag_accounts *acc, unsigned int tag)
{
	return acc->chunks[tag >> MTAG_CHUNK_SHIFT];
}

static u16 bit_of(unsigned int tag)
{
	return 1U << (tag & (MTAG_CHUNK_TAGS - 1));
}

/* Lets the space of @acc know the name of @tag. Context: tree->lock, unless @acc is new. */
void mtag_account_know(struct mtag_accounts *acc, unsigned int tag)
{
	struct mtag_chunk *chunk = chunk_of(acc, tag);

	WRITE_ONCE(chunk->known, chunk->known | bit_of(tag));
}

/* Context: caller keeps @acc from being freed. */
bool mtag_account_known(const struct mtag_accounts *acc, unsigned int tag)
{
	return tag < tags_of(acc) && READ_ONCE(chunk_of(acc, tag)->known) & bit_of(tag);
}

/* Copies to a new space the names that its parent knows. Context: caller keeps both alive. */
void mtag_account_inherit(struct mtag_accounts *to, const struct mtag_accounts *from)
{
	unsigned int i;

	for (i = 0; i < min(to->nr_chunks, from->nr_chunks); i++)
		to->chunks[i]->known = READ_ONCE(from->chunks[i]->known);
}

static struct mtag_cold *cold_of(const struct mtag_accounts *acc, unsigned int tag)
{
	return &chunk_of(acc, tag)->cold[tag & (MTAG_CHUNK_TAGS - 1)];
}

static struct mtag_hot __percpu *hot_of(const struct mtag_accounts *acc, unsigned int tag)
{
	return acc->hot[tag];
}

static s64 resident(const struct mtag_accounts *acc, unsigned int tag)
{
	const struct mtag_hot *hot;
	u32 sum = 0;
	int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		/* Inline, unlike for_each_possible_cpu(). */
		if (!cpu_possible(cpu))
			continue;
		hot = per_cpu_ptr(hot_of(acc, tag), cpu);
		sum += READ_ONCE(hot->nr[MTAG_ANON]) + READ_ONCE(hot->nr[MTAG_FILE]) +
		       READ_ONCE(hot->nr[MTAG_SHMEM]);
	}
	return (s32)sum;
}

static void peak_raise(struct mtag_cold *cold, s64 now)
{
	s64 old = atomic64_read(&cold->peak);

	while (now > old && !atomic64_try_cmpxchg(&cold->peak, &old, now))
		;
}

/* Counts only pages known to be resident at once: none under migration, and no @transient ones. */
static void peak_note(struct mtag_space *s, const struct mtag_accounts *acc, unsigned int tag,
		      int transient)
{
	peak_raise(cold_of(acc, tag),
		   resident(acc, tag) - atomic_read(&s->migration.charged) - transient);
}

static void change_account(struct mtag_space *s, unsigned int tag, enum mtag_kind kind, int pages,
			   int transient)
{
	struct mtag_accounts *acc = rcu_dereference_check(s->accounts, !preemptible());
	u32 now;

	if (unlikely(tag >= tags_of(acc))) {
		mtag_space_dirty(s);
		tag = MTAG_ID_UNTAGGED;
	}
	now = this_cpu_add_return(hot_of(acc, tag)->nr[kind], pages);
	if (pages > 0 && kind != MTAG_SWAP && (now ^ (now - pages)) & -MTAG_PEAK_BATCH)
		peak_note(s, acc, tag, transient);
}

/**
 * mtag_account_add() - charge @pages of @kind to @tag, or uncharge them
 * @s:		space
 * @tag:	id
 * @kind:	kind of the pages
 * @pages:	negative to uncharge
 *
 * Without an account for @tag, untagged is charged, and uncharged later. The space
 * becomes dirty, so that a walk repairs the counters.
 * Context: RCU read side or preemption disabled.
 */
void mtag_account_add(struct mtag_space *s, unsigned int tag, enum mtag_kind kind, int pages)
{
	change_account(s, tag, kind, pages, 0);
}

/**
 * mtag_account_replace() - charge @tag with a page that replaces another
 * @s:		space
 * @tag:	id
 *
 * The kernel maps the new page just before it unmaps the old one, which must not
 * raise the peak.
 * Context: as mtag_account_add().
 */
void mtag_account_replace(struct mtag_space *s, unsigned int tag)
{
	change_account(s, tag, MTAG_ANON, 1, 1);
}

/* Counts first touches of @pages. Context: as mtag_account_add(). */
void mtag_account_touch(struct mtag_space *s, unsigned int tag, int pages)
{
	struct mtag_accounts *acc = rcu_dereference_check(s->accounts, !preemptible());

	if (tag < tags_of(acc))
		this_cpu_add(hot_of(acc, tag)->touched, pages);
}

/**
 * mtag_account_peak() - raise the peak of @tag to its resident pages
 * @s:		space
 * @tag:	id; a tag without an account has no peak
 *
 * The hot path does this once per 64 pages and CPU, so a peak may be too low by at most 64 pages
 * per CPU. Pages under migration do not raise it, as some of them may be gone.
 * Context: as mtag_account_add().
 */
void mtag_account_peak(struct mtag_space *s, unsigned int tag)
{
	struct mtag_accounts *acc = rcu_dereference_check(s->accounts, !preemptible());

	if (tag < tags_of(acc))
		peak_note(s, acc, tag, 0);
}

/* Raises the peak of @tag to @pages, and returns it. Context: as mtag_account_fold(). */
u64 mtag_account_seen(const struct mtag_accounts *acc, unsigned int tag, s64 pages)
{
	peak_raise(cold_of(acc, tag), pages);
	return atomic64_read(&cold_of(acc, tag)->peak);
}

/* Counts a system call that changed the address space. Context: any but NMI. */
void mtag_account_call(struct mtag_space *s, unsigned int tag, enum mtag_call call, u64 bytes)
{
	struct mtag_accounts *acc;
	struct mtag_cold *cold;

	rcu_read_lock();
	acc = rcu_dereference(s->accounts);
	cold = cold_of(acc, tag < tags_of(acc) ? tag : MTAG_ID_UNTAGGED);
	atomic64_inc(&cold->calls[call]);
	atomic64_add(bytes, &cold->bytes[call]);
	rcu_read_unlock();
}

/**
 * mtag_account_fold() - sum up the current numbers of @tag over CPUs, in pages
 * @acc:	accounts of a space
 * @tag:	id below acc->nr_tags
 * @sum:	filled
 *
 * Context: caller keeps @acc from being freed.
 */
void mtag_account_fold(const struct mtag_accounts *acc, unsigned int tag, struct mtag_sum *sum)
{
	struct mtag_cold *cold = cold_of(acc, tag);
	u32 nr[MTAG_KINDS] = {};
	const struct mtag_hot *hot;
	int cpu, i;

	sum->touched = 0;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		/* Inline, unlike for_each_possible_cpu(). */
		if (!cpu_possible(cpu))
			continue;
		hot = per_cpu_ptr(hot_of(acc, tag), cpu);
		for (i = 0; i < MTAG_KINDS; i++)
			nr[i] += READ_ONCE(hot->nr[i]);
		sum->touched += READ_ONCE(hot->touched);
	}
	for (i = 0; i < MTAG_KINDS; i++)
		sum->nr[i] = (s32)nr[i];
	sum->peak = atomic64_read(&cold->peak);
	for (i = 0; i < MTAG_CALLS; i++) {
		sum->calls[i] = atomic64_read(&cold->calls[i]);
		sum->bytes[i] = atomic64_read(&cold->bytes[i]);
	}
}

/**
 * mtag_account_set() - set the page counts of @tag to @nr
 * @acc:	accounts of a space
 * @tag:	id below acc->nr_tags
 * @nr:		pages by kind
 *
 * Context: walk_lock of the space, with MTAG_SLOW_WALK set, so that no event
 * changes the counters meanwhile.
 */
void mtag_account_set(struct mtag_accounts *acc, unsigned int tag, const s64 nr[MTAG_KINDS])
{
	struct mtag_hot *hot;
	int cpu, i;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		/* Inline, unlike for_each_possible_cpu(). */
		if (!cpu_possible(cpu))
			continue;
		hot = per_cpu_ptr(hot_of(acc, tag), cpu);
		for (i = 0; i < MTAG_KINDS; i++)
			WRITE_ONCE(hot->nr[i], 0);
	}
	for (i = 0; i < MTAG_KINDS; i++)
		raw_cpu_write(hot_of(acc, tag)->nr[i], nr[i]);
	peak_raise(cold_of(acc, tag), nr[MTAG_ANON] + nr[MTAG_FILE] + nr[MTAG_SHMEM]);
}

/* Resets all peaks to the current resident pages. Context: may sleep. */
void mtag_account_reset_peaks(struct mtag_space *s)
{
	struct mtag_accounts *acc;
	unsigned int tag = 0, end;
	s64 pages;

	do {
		rcu_read_lock();
		acc = rcu_dereference(s->accounts);
		for (end = min(tags_of(acc), tag + RESET_BATCH); tag < end; tag++) {
			/* Pages under migration do not count, as in peak_note(). */
			pages = resident(acc, tag) - atomic_read(&s->migration.charged);
			atomic64_set(&cold_of(acc, tag)->peak, max_t(s64, pages, 0));
		}
		end = tags_of(acc);
		rcu_read_unlock();
		cond_resched();
	} while (tag < end);
}

/* Sums up the absolute page counts of all kinds: 0 for a dead space. Context: may sleep. */
u64 mtag_account_residue(const struct mtag_accounts *acc)
{
	struct mtag_sum sum;
	unsigned int tag;
	u64 pages = 0;
	int i;

	for (tag = 0; tag < acc->nr_tags; tag++) {
		mtag_account_fold(acc, tag, &sum);
		for (i = 0; i < MTAG_KINDS; i++)
			pages += abs(sum.nr[i]);
		cond_resched();
	}
	return pages;
}
