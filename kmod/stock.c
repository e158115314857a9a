// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the counts of accounts: a record each, and what the CPUs have yet to add to it. Each CPU
 * has a few accounts cached, and counts there. It adds to the record when it needs the slot for
 * another account, or has counted MTAG_STOCK_PAGES pages.
 *
 * The lock of an account makes "add to the record, clear the slot" one step for whoever sums up.
 * Locks are few, and shared by accounts that have the same hash: nobody holds two at once.
 */
#include <linux/bitmap.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include "mtag.h"
#include "ran_on.h"
#include "stock.h"

#define LOCK_BITS	6
#define LOOKS		100 /* as often another CPU is read, in the hope of counts of one moment */

DEFINE_PER_CPU(struct mtag_stock, mtag_stock);

static struct stock_lock {
	raw_spinlock_t lock;	/* innermost */
} ____cacheline_aligned_in_smp locks[1 << LOCK_BITS] = {
	[0 ... (1 << LOCK_BITS) - 1] = { .lock = __RAW_SPIN_LOCK_UNLOCKED(locks.lock) },
};

/* The tags of a slot share a lock. */
static_assert(MTAG_SLOTS % ARRAY_SIZE(locks) == 0);

/* Of the account of @tag, and of all others of @s that have the same slot. */
static raw_spinlock_t *lock_of(const struct mtag_space *s, u32 tag)
{
	return &locks[(hash_ptr((void *)s, LOCK_BITS) + tag) % ARRAY_SIZE(locks)].lock;
}

/* The slots of the next CPU after *@cpu that may have accounts of @s cached, or NULL. */
static __always_inline struct mtag_stock *stock_next(const struct mtag_space *s, int *cpu)
{
	do {
		*cpu = mtag_ran_on_next(READ_ONCE(s->cpus), *cpu);
		if (*cpu >= nr_cpu_ids)
			return NULL;
	} while (!cpu_possible(*cpu));
	return per_cpu_ptr(&mtag_stock, *cpu);
}

/* Caller holds the lock of the account. */
static bool stock_has(const struct mtag_stock *k, const struct mtag_space *s, u32 tag)
{
	unsigned int i = tag % MTAG_SLOTS;

	lockdep_assert_held(lock_of(s, tag));
	/* Pairs with mtag_stock_enter(). */
	return smp_load_acquire(&k->space[i]) == s && READ_ONCE(k->tag[i]) == tag;
}

/* ---- sums; callers hold the lock of the account ---- */

/*
 * Adds what is in slot @i of a resident @kind. The CPU may count meanwhile: three counts of one
 * moment are those that are still the same after all have been read. One event takes many times
 * longer than a look, so two looks nearly always suffice; LOOKS bounds the loop for a reader that
 * is preempted time and again.
 */
static __always_inline void slot_add_kind(const struct mtag_stock *k, unsigned int i, int kind,
					  u32 nr[MTAG_KINDS], s32 *touched)
{
	int looks = LOOKS;
	u8 come, gone;
	s8 rest;

	do {
		come = READ_ONCE(k->come[kind][i]);
		gone = READ_ONCE(k->gone[kind][i]);
		rest = READ_ONCE(k->nr[kind][i]);
	} while ((come != READ_ONCE(k->come[kind][i]) || gone != READ_ONCE(k->gone[kind][i]) ||
		  rest != READ_ONCE(k->nr[kind][i])) && --looks);
	*touched += come / MTAG_STOCK_COME;
	nr[kind] += rest + come / MTAG_STOCK_COME - gone;
}

/* Adds what is in slot @i. */
static __always_inline void slot_add(const struct mtag_stock *k, unsigned int i,
				     u32 nr[MTAG_KINDS], u64 *touched)
{
	s32 more = READ_ONCE(k->touched[i]);

	slot_add_kind(k, i, MTAG_ANON, nr, &more);
	slot_add_kind(k, i, MTAG_FILE, nr, &more);
	slot_add_kind(k, i, MTAG_SHMEM, nr, &more);
	nr[MTAG_SWAP] += READ_ONCE(k->nr[MTAG_SWAP][i]);
	*touched += more;
}

static s32 record_resident(const struct mtag_account *a)
{
	return a->nr[MTAG_ANON] + a->nr[MTAG_FILE] + a->nr[MTAG_SHMEM];
}

/* Not 0 if the record has pages of any kind. */
static u32 record_pages(const struct mtag_account *a)
{
	return a->nr[MTAG_ANON] | a->nr[MTAG_FILE] | a->nr[MTAG_SHMEM] | a->nr[MTAG_SWAP];
}

static s64 resident(const struct mtag_accounts *acc, u32 tag)
{
	u32 sum = record_resident(mtag_accounts_of(acc, tag)), nr[MTAG_KINDS] = {};
	unsigned int i = tag % MTAG_SLOTS;
	int cpu = -1;
	const struct mtag_stock *k;
	u64 ignored = 0;

	while ((k = stock_next(acc->space, &cpu)))
		if (stock_has(k, acc->space, tag))
			slot_add(k, i, nr, &ignored);
	return (s32)(sum + nr[MTAG_ANON] + nr[MTAG_FILE] + nr[MTAG_SHMEM]);
}

static void sum_up(const struct mtag_accounts *acc, u32 tag, struct mtag_sum *sum)
{
	const struct mtag_account *a = mtag_accounts_of(acc, tag);
	unsigned int i = tag % MTAG_SLOTS, kind;
	int cpu = -1;
	u32 nr[MTAG_KINDS] = {};
	const struct mtag_stock *k;

	lockdep_assert_held(lock_of(acc->space, tag));
	sum->touched = a->touched;
	while ((k = stock_next(acc->space, &cpu)))
		if (stock_has(k, acc->space, tag))
			slot_add(k, i, nr, &sum->touched);
	for (kind = 0; kind < MTAG_KINDS; kind++)
		sum->nr[kind] = (s32)(nr[kind] + a->nr[kind]);
	sum->peak = a->peak;
}

/* Likewise of one that no CPU has cached. */
static __always_inline void sum_record(const struct mtag_account *a, struct mtag_sum *sum)
{
	int kind;

	for (kind = 0; kind < MTAG_KINDS; kind++)
		sum->nr[kind] = (s32)a->nr[kind];
	sum->touched = a->touched;
	sum->peak = a->peak;
}

/*
 * For showing. Pages come and go during a sum: it may see one CPU's removal before another's
 * addition. Kind by kind, as the compiler would leave a loop one.
 */
static __always_inline void sum_show(struct mtag_account *a, struct mtag_sum *sum)
{
	u64 pages;

	sum->nr[MTAG_ANON] = max_t(s64, sum->nr[MTAG_ANON], 0);
	sum->nr[MTAG_FILE] = max_t(s64, sum->nr[MTAG_FILE], 0);
	sum->nr[MTAG_SHMEM] = max_t(s64, sum->nr[MTAG_SHMEM], 0);
	sum->nr[MTAG_SWAP] = max_t(s64, sum->nr[MTAG_SWAP], 0);
	pages = sum->nr[MTAG_ANON] + sum->nr[MTAG_FILE] + sum->nr[MTAG_SHMEM];
	if (pages > sum->peak) {
		a->peak = pages;
		sum->peak = pages;
	}
}

/*
 * Raises the peak to the resident pages, less those that are @transient or under migration. As long
 * as the record says no more than the peak, there are no more than MTAG_STOCK_PAGES of a kind more
 * on each CPU: then nothing is summed up.
 */
static void peak_raise(const struct mtag_accounts *acc, u32 tag, int transient)
{
	struct mtag_account *a = mtag_accounts_of(acc, tag);
	s64 now;

	lockdep_assert_held(lock_of(acc->space, tag));
	if (record_resident(a) <= (s64)a->peak)
		return;
	now = resident(acc, tag) - transient - atomic_read(&acc->space->migration.charged);
	if (now > (s64)a->peak)
		a->peak = now;
}

/* ---- this CPU's slots; callers have disabled preemption ---- */

/* Adds slot @i to the record. Caller holds the lock of the account. */
static void slot_flush(struct mtag_stock *k, unsigned int i, struct mtag_account *a)
{
	int kind;

	slot_add(k, i, a->nr, &a->touched);
	for (kind = 0; kind < MTAG_KINDS; kind++)
		WRITE_ONCE(k->nr[kind][i], 0);
	for (kind = 0; kind < MTAG_RESIDENT_KINDS; kind++) {
		WRITE_ONCE(k->come[kind][i], 0);
		WRITE_ONCE(k->gone[kind][i], 0);
	}
	WRITE_ONCE(k->touched[i], 0);
}

/**
 * mtag_stock_leave() - this CPU forgets what is in the slot of a tag
 * @tag:	id, of any space
 * @left:	filled with the space of the account that was there
 * @left_tag:	and its id
 *
 * Context: preemption disabled.
 * Return: true if @left has limits: the caller compares. Otherwise it must not use @left, which
 * may be gone.
 */
bool __noendbr mtag_stock_leave(u32 tag, struct mtag_space **left, u32 *left_tag)
{
	struct mtag_stock *k = this_cpu_ptr(&mtag_stock);
	const struct mtag_accounts *acc;
	unsigned int i = tag % MTAG_SLOTS;
	/* Pairs with slot_forget(). */
	struct mtag_space *s = smp_load_acquire(&k->space[i]);
	raw_spinlock_t *lock;
	bool limited = false;

	if (!s)
		return false;
	lock = lock_of(s, i);
	raw_spin_lock(lock);
	/* mtag_stock_forget() may have been here, and @s may be gone. */
	if (READ_ONCE(k->space[i]) == s) {
		*left = s;
		*left_tag = k->tag[i];
		acc = rcu_dereference_check(s->accounts, true);
		slot_flush(k, i, mtag_accounts_of(acc, k->tag[i]));
		peak_raise(acc, k->tag[i], 0);
		/* With a limit it is not dead yet, and stays for a grace period at least. */
		limited = !hlist_empty(&s->limits);
		/* Pairs with mtag_stock_forget(): @s may go once this is seen. */
		smp_store_release(&k->space[i], NULL);
	}
	raw_spin_unlock(lock);
	return limited;
}

/**
 * mtag_stock_enter() - this CPU caches an account
 * @s:		space
 * @tag:	id that has an account. mtag_stock_leave() has cleared its slot
 *
 * Context: preemption disabled.
 */
void __noendbr mtag_stock_enter(struct mtag_space *s, u32 tag)
{
	struct mtag_stock *k = this_cpu_ptr(&mtag_stock);
	unsigned int i = tag % MTAG_SLOTS;

	mtag_ran_on_this_cpu(&s->cpus);
	WRITE_ONCE(k->tag[i], tag);
	/* Pairs with stock_has(), which looks at the tag only then. The counts are 0. */
	smp_store_release(&k->space[i], s);
}

/* Adds what this CPU has counted of @tag, if it has it cached. Caller holds the account's lock. */
static void stock_flush(const struct mtag_accounts *acc, u32 tag)
{
	struct mtag_stock *k = this_cpu_ptr(&mtag_stock);

	if (stock_has(k, acc->space, tag))
		slot_flush(k, tag % MTAG_SLOTS, mtag_accounts_of(acc, tag));
}

/**
 * mtag_stock_add_record() - change the pages in the record of an account
 * @acc:	accounts of its space
 * @tag:	id
 * @kind:	kind of the pages
 * @pages:	how many more; may be negative
 * @touched:	so many of them are first touched
 * @transient:	so many are about to go, and do not raise the peak
 *
 * The caller compares with limits. Context: preemption disabled.
 */
void __noendbr mtag_stock_add_record(const struct mtag_accounts *acc, u32 tag, enum mtag_kind kind,
				     int pages, int touched, int transient)
{
	struct mtag_account *a = mtag_accounts_of(acc, tag);
	raw_spinlock_t *lock = lock_of(acc->space, tag);

	raw_spin_lock(lock);
	/* Few pages may come here as the count of this CPU is full. */
	if (abs(pages) < MTAG_STOCK_PAGES)
		stock_flush(acc, tag);
	a->nr[kind] += pages;
	a->touched += touched;
	if (pages > 0)
		peak_raise(acc, tag, transient);
	raw_spin_unlock(lock);
}

/* Counts first touches in the record of an account. Context: preemption disabled. */
void __noendbr mtag_stock_touch_record(const struct mtag_accounts *acc, u32 tag, s64 pages)
{
	raw_spinlock_t *lock = lock_of(acc->space, tag);

	raw_spin_lock(lock);
	mtag_accounts_of(acc, tag)->touched += pages;
	raw_spin_unlock(lock);
}

/*
 * The hot path has counted as many pages of @tag as it can, of which @transient ones are about to
 * go. Context: preemption disabled.
 */
void __noendbr mtag_stock_full(const struct mtag_accounts *acc, u32 tag, int transient)
{
	raw_spinlock_t *lock = lock_of(acc->space, tag);

	raw_spin_lock(lock);
	stock_flush(acc, tag);
	peak_raise(acc, tag, transient);
	raw_spin_unlock(lock);
}

/* ---- readers; callers keep the accounts from being freed ---- */

/* The resident pages of @tag. */
s64 mtag_stock_resident(const struct mtag_accounts *acc, u32 tag)
{
	raw_spinlock_t *lock = lock_of(acc->space, tag);
	s64 pages;

	raw_spin_lock(lock);
	pages = resident(acc, tag);
	raw_spin_unlock(lock);
	return pages;
}

void __noendbr mtag_stock_read(const struct mtag_accounts *acc, u32 tag, struct mtag_sum *sum)
{
	raw_spinlock_t *lock = lock_of(acc->space, tag);

	raw_spin_lock(lock);
	sum_up(acc, tag, sum);
	raw_spin_unlock(lock);
}

/* As mtag_stock_read(), for showing: none is negative, and the peak is raised. */
void __noendbr mtag_stock_show(const struct mtag_accounts *acc, u32 tag, struct mtag_sum *sum)
{
	raw_spinlock_t *lock = lock_of(acc->space, tag);

	raw_spin_lock(lock);
	sum_up(acc, tag, sum);
	sum_show(mtag_accounts_of(acc, tag), sum);
	raw_spin_unlock(lock);
}

/* Kind by kind, too. */
static __always_inline void sum_add(struct mtag_sum *total, const struct mtag_sum *sum)
{
	total->nr[MTAG_ANON] += sum->nr[MTAG_ANON];
	total->nr[MTAG_FILE] += sum->nr[MTAG_FILE];
	total->nr[MTAG_SHMEM] += sum->nr[MTAG_SHMEM];
	total->nr[MTAG_SWAP] += sum->nr[MTAG_SWAP];
	total->touched += sum->touched;
}

/**
 * mtag_stock_show_slot() - as mtag_stock_show(), of all tags that share a slot
 * @acc:	accounts of a space
 * @nr_tags:	only tags below this
 * @slot:	below MTAG_SLOTS
 * @sums:	filled for tags whose bit is set in @has; or NULL
 * @has:	unless @sums is NULL: bits of tags with a sum that is not 0 are set
 * @total:	everything but the peaks is added
 *
 * All slots together cost O(tags + CPUs that the space has run on).
 */
void mtag_stock_show_slot(const struct mtag_accounts *acc, unsigned int nr_tags, unsigned int slot,
			  struct mtag_sum *sums, unsigned long *has, struct mtag_sum *total)
{
	/* One bit for each tag that a CPU has cached: only for these all CPUs are looked at. */
	DECLARE_BITMAP(cached, (MTAG_ID_MAX + 1) / MTAG_SLOTS + 1);
	unsigned int tags = DIV_ROUND_UP(nr_tags - min(nr_tags, slot), MTAG_SLOTS);
	raw_spinlock_t *lock = lock_of(acc->space, slot);
	const struct mtag_stock *k;
	struct mtag_account *a;
	struct mtag_sum sum;
	unsigned int i;
	int cpu = -1;
	u32 tag;

	bitmap_zero(cached, tags);
	raw_spin_lock(lock);
	while ((k = stock_next(acc->space, &cpu)))
		if (READ_ONCE(k->space[slot]) == acc->space &&
		    READ_ONCE(k->tag[slot]) / MTAG_SLOTS < tags)
			__set_bit(READ_ONCE(k->tag[slot]) / MTAG_SLOTS, cached);
	for (i = 0, tag = slot; i < tags; i++, tag += MTAG_SLOTS) {
		a = mtag_accounts_of(acc, tag);
		if (unlikely(test_bit(i, cached))) {
			sum_up(acc, tag, &sum);
		} else if (!(record_pages(a) | a->touched | a->peak)) {
			/* As most tags of a large tree. */
			if (sums && test_bit(tag, has))
				sums[tag] = (struct mtag_sum){};
			continue;
		} else {
			sum_record(a, &sum);
		}
		sum_show(a, &sum);
		sum_add(total, &sum);
		if (sums) {
			sums[tag] = sum;
			__set_bit(tag, has);
		}
	}
	raw_spin_unlock(lock);
}

/*
 * Sets the pages of @tag to @nr. What CPUs have cached stays there: they need not stop. Context: no
 * page event of the space is under way.
 */
void mtag_stock_set(const struct mtag_accounts *acc, u32 tag, const s64 nr[MTAG_KINDS])
{
	struct mtag_account *a = mtag_accounts_of(acc, tag);
	raw_spinlock_t *lock = lock_of(acc->space, tag);
	struct mtag_sum sum;
	int kind;

	raw_spin_lock(lock);
	sum_up(acc, tag, &sum);
	for (kind = 0; kind < MTAG_KINDS; kind++)
		a->nr[kind] += (u32)nr[kind] - (u32)sum.nr[kind];
	a->peak = max_t(s64, a->peak, nr[MTAG_ANON] + nr[MTAG_FILE] + nr[MTAG_SHMEM]);
	raw_spin_unlock(lock);
}

/* Resets the peak to the resident pages, less those under migration, as peak_raise() does. */
void mtag_stock_reset_peak(const struct mtag_accounts *acc, u32 tag)
{
	raw_spinlock_t *lock = lock_of(acc->space, tag);
	s64 pages;

	raw_spin_lock(lock);
	pages = resident(acc, tag) - atomic_read(&acc->space->migration.charged);
	mtag_accounts_of(acc, tag)->peak = max_t(s64, pages, 0);
	raw_spin_unlock(lock);
}

/* Resets what only grows, of a @tag that nothing is charged to. Return: its first touches. */
u64 mtag_stock_clear(const struct mtag_accounts *acc, u32 tag)
{
	struct mtag_account *a = mtag_accounts_of(acc, tag);
	raw_spinlock_t *lock = lock_of(acc->space, tag);
	struct mtag_sum sum;

	raw_spin_lock(lock);
	sum_up(acc, tag, &sum);
	a->touched -= sum.touched;
	a->peak = 0;
	raw_spin_unlock(lock);
	return sum.touched;
}

static void slot_forget(struct mtag_stock *k, unsigned int i, struct mtag_space *s)
{
	raw_spinlock_t *lock = lock_of(s, i);
	struct mtag_account dropped = {};

	raw_spin_lock(lock);
	if (READ_ONCE(k->space[i]) == s) {
		slot_flush(k, i, &dropped);
		/* Pairs with mtag_stock_leave(), after which the slot is used for others. */
		smp_store_release(&k->space[i], NULL);
	}
	raw_spin_unlock(lock);
}

/**
 * mtag_stock_forget() - have no CPU cache accounts of a space
 * @s:		space that hooks can no longer find, since a grace period ago
 *
 * Context: any but interrupts. Afterwards no CPU looks at @s or its accounts.
 */
void mtag_stock_forget(struct mtag_space *s)
{
	struct mtag_stock *k;
	unsigned int i;
	int cpu = -1;

	while ((k = stock_next(s, &cpu)))
		for (i = 0; i < MTAG_SLOTS; i++)
			/* Pairs with mtag_stock_leave(), which has left @s alone by then. */
			if (smp_load_acquire(&k->space[i]) == s)
				slot_forget(k, i, s);
}
