// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the counters of each (space, tag): per-CPU counts that page events change
 * and readers fold, and the cold rest (peak, calls).
 */
#include "account.h"
#include "limit.h"
#include "mtag.h"
#include "state.h"

#define RESET_BATCH	256U	/* tags between two chances to schedule */

/* The number of tags that have an account in @acc. */
static unsigned int tags_of(const struct mtag_accounts *acc)
{
	/* Pairs with mtag_accounts_extend(). */
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

/*
 * Lets the space of @acc know the name of @tag. A space that has left its tree, while a call of
 * its process is under way, has no account for tags that others made since.
 * Context: tree->lock, unless @acc is new.
 */
void mtag_account_know(struct mtag_accounts *acc, unsigned int tag)
{
	struct mtag_chunk *chunk;

	if (tag >= tags_of(acc))
		return;
	chunk = chunk_of(acc, tag);
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

/*
 * Compares tags that have limits with them: @only this one, or all if that is negative. Of the
 * pages of @tag @transient are about to go. Return: whether a limit came near or went away.
 */
static bool limits_see(struct mtag_space *s, const struct mtag_accounts *acc, int only,
		       unsigned int tag, int transient)
{
	struct mtag_limit *l;
	bool moved = false;
	s64 now;

	rcu_read_lock();
	hlist_for_each_entry_rcu(l, &s->limits, node) {
		if (l->tag >= tags_of(acc) || (only >= 0 && l->tag != only))
			continue;
		now = resident(acc, l->tag) - (l->tag == tag ? transient : 0);
		moved |= mtag_limit_see(s, l, now);
	}
	rcu_read_unlock();
	return moved;
}

/*
 * Compares @tag with its limits; each event does while one is near. When one moves, all are looked
 * at again. That ends: each new round means that others changed a tag by more pages than all CPUs
 * can add unseen, between two sums.
 */
static void limit_note(struct mtag_space *s, const struct mtag_accounts *acc, unsigned int tag,
		       int transient)
{
	int only = tag;

	if (!mtag_limit_watched(s, tag))
		return;
	/* Pairs with itself: of two CPUs that change the counters, one sees both changes. */
	smp_mb();
	while (limits_see(s, acc, only, tag, transient))
		only = -1;
}

/* Counts only pages known to be resident at once: none under migration, and no @transient ones. */
static void peak_note(struct mtag_space *s, const struct mtag_accounts *acc, unsigned int tag,
		      int transient)
{
	s64 now = resident(acc, tag) - transient;

	peak_raise(cold_of(acc, tag), now - atomic_read(&s->migration.charged));
	limit_note(s, acc, tag, transient);
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
	if (unlikely(READ_ONCE(s->slow) & MTAG_SLOW_LIMIT) && kind != MTAG_SWAP)
		limit_note(s, acc, tag, transient);
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
void mtag_account_touch(struct mtag_space *s, unsigned int tag, s64 pages)
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

/* As mtag_account_peak(), but one page more than @tag will have is charged to it for the moment. */
void mtag_account_peak_replacing(struct mtag_space *s, unsigned int tag)
{
	struct mtag_accounts *acc = rcu_dereference_check(s->accounts, !preemptible());

	if (tag < tags_of(acc))
		peak_note(s, acc, tag, 1);
}

/* Raises the peak of @tag to @pages, and returns it. Context: as mtag_account_fold(). */
u64 mtag_account_seen(const struct mtag_accounts *acc, unsigned int tag, s64 pages)
{
	peak_raise(cold_of(acc, tag), pages);
	return atomic64_read(&cold_of(acc, tag)->peak);
}

/**
 * mtag_account_check_limits() - compare all tags that have limits with them
 * @s:		space
 *
 * For those who change counters otherwise than by the functions above, and for new limits.
 * Context: any but NMI.
 */
void mtag_account_check_limits(struct mtag_space *s)
{
	const struct mtag_accounts *acc;

	rcu_read_lock();
	acc = rcu_dereference(s->accounts);
	while (limits_see(s, acc, -1, 0, 0))
		;
	rcu_read_unlock();
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

/* Has @tag pages, or swapped ones? Context: as mtag_account_fold(). */
bool mtag_account_owns(const struct mtag_accounts *acc, u32 tag)
{
	struct mtag_sum sum;

	mtag_account_fold(acc, tag, &sum);
	return memchr_inv(sum.nr, 0, sizeof(sum.nr));
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
