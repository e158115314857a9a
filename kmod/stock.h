/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each CPU has yet to add to accounts; stock.c.
 */
#ifndef MTAG_STOCK_H
#define MTAG_STOCK_H

#include <linux/percpu.h>
#include <asm/ibt.h>
#include "accounts.h"
#include "limit.h"
#include "compat/percpu.h"
#include "mtag.h"
#include "state.h"

#define MTAG_SLOTS		64U	/* accounts that a CPU has cached at once; a power of 2 */
/* Added to mtag_stock.come for a page, so that MTAG_STOCK_PAGES of them set the highest bit. */
#define MTAG_STOCK_COME		(128 / MTAG_STOCK_PAGES)

/**
 * struct mtag_stock - changes that a CPU has yet to add to accounts; per CPU
 * @space:	by slot: whose account is cached, or NULL
 * @tag:	by slot: which account. The slot is its tag % MTAG_SLOTS
 * @come:	by kind and slot: pages first touched, by the hot path; MTAG_STOCK_COME each
 * @gone:	by kind and slot: pages unmapped, by the hot path
 * @nr:		by kind and slot: all other changes of pages
 * @touched:	by slot: first touches except those in @come
 *
 * This CPU changes its slots, with preemption disabled, and adds to the counts without a lock. The
 * lock of an account keeps its slots on all CPUs as they are, except for those additions: whoever
 * moves a count to the account's record holds it. Others change a slot, with that lock, only when
 * no page event of its space can be under way.
 *
 * Arrays by slot, as then the hot path need not multiply.
 */
struct mtag_stock {
	struct mtag_space *space[MTAG_SLOTS];
	u32 tag[MTAG_SLOTS];
	u8 come[MTAG_RESIDENT_KINDS][MTAG_SLOTS];
	u8 gone[MTAG_RESIDENT_KINDS][MTAG_SLOTS];
	s8 nr[MTAG_KINDS][MTAG_SLOTS];
	s8 touched[MTAG_SLOTS];
};

DECLARE_PER_CPU(struct mtag_stock, mtag_stock);

/* As long as a pointer, so that the compiler extends it once. */
static __always_inline unsigned long mtag_stock_slot(unsigned long tag)
{
	return tag % MTAG_SLOTS;
}

/*
 * Does this CPU have the account of @tag cached? Then there is one, and it is not [ksm]'s: even a
 * @tag that a program has made up is safe to use. Context: preemption disabled.
 */
static __always_inline bool mtag_stock_has(struct mtag_space *s, u32 tag)
{
	unsigned long i = mtag_stock_slot(tag);

	return mtag_percpu_is(mtag_stock.space[i], s) && mtag_percpu_is(mtag_stock.tag[i], tag);
}

/*
 * Pages of @kind, fewer than MTAG_STOCK_PAGES, are first touched by @tag, which this CPU has
 * cached. Return: must the caller mtag_account_full()?
 */
static __always_inline bool mtag_stock_come(u32 tag, enum mtag_kind kind, int pages)
{
	return mtag_percpu_add_full(mtag_stock.come[kind][mtag_stock_slot(tag)],
				    pages * MTAG_STOCK_COME);
}

/*
 * Takes one mtag_stock_come() of an anonymous page back; false if it has been added to the account
 * since.
 */
static __always_inline bool mtag_stock_undo_touched(u32 tag)
{
	u8 come = this_cpu_read(mtag_stock.come[MTAG_ANON][mtag_stock_slot(tag)]);

	if (!come)
		return false;
	this_cpu_write(mtag_stock.come[MTAG_ANON][mtag_stock_slot(tag)], come - MTAG_STOCK_COME);
	return true;
}

/* As mtag_stock_come(), of pages that are unmapped. */
static __always_inline bool mtag_stock_gone(u32 tag, enum mtag_kind kind, int pages)
{
	return mtag_percpu_add_full(mtag_stock.gone[kind][mtag_stock_slot(tag)], pages);
}

/* Adds to a count of this CPU, if that stays small. Return: false if nothing is done. */
static __always_inline bool mtag_stock_count(s8 __percpu *count, s64 pages)
{
	s64 now = this_cpu_read(*count) + pages;

	if (now <= -MTAG_STOCK_PAGES || now >= MTAG_STOCK_PAGES)
		return false;
	this_cpu_write(*count, now);
	return true;
}

/* All of the following: context: preemption disabled. */

/* Changes the pages of @tag, if this CPU has it cached and can count so many more. */
static __always_inline bool mtag_stock_add(struct mtag_space *s, u32 tag, enum mtag_kind kind,
					   int pages)
{
	return likely(mtag_stock_has(s, tag)) &&
	       mtag_stock_count(&mtag_stock.nr[kind][mtag_stock_slot(tag)], pages);
}

/* Likewise counts first touches, except those of mtag_stock_come(). */
static __always_inline bool mtag_stock_touch(struct mtag_space *s, u32 tag, s64 pages)
{
	return likely(mtag_stock_has(s, tag)) &&
	       mtag_stock_count(&mtag_stock.touched[mtag_stock_slot(tag)], pages);
}

bool __noendbr mtag_stock_leave(u32 tag, struct mtag_space **left, u32 *left_tag);
void __noendbr mtag_stock_enter(struct mtag_space *s, u32 tag);
void __noendbr mtag_stock_add_record(const struct mtag_accounts *acc, u32 tag, enum mtag_kind kind,
				     int pages, int touched, int transient);
void __noendbr mtag_stock_touch_record(const struct mtag_accounts *acc, u32 tag, s64 pages);
void __noendbr mtag_stock_full(const struct mtag_accounts *acc, u32 tag, int transient);
s64 mtag_stock_resident(const struct mtag_accounts *acc, u32 tag);
/* Fills @sum with the numbers of @tag, as they are. Caller keeps @acc from being freed. */
void __noendbr mtag_stock_read(const struct mtag_accounts *acc, u32 tag, struct mtag_sum *sum);
void __noendbr mtag_stock_show(const struct mtag_accounts *acc, u32 tag, struct mtag_sum *sum);
void mtag_stock_show_slot(const struct mtag_accounts *acc, unsigned int nr_tags, unsigned int slot,
			  struct mtag_sum *sums, unsigned long *has, struct mtag_sum *total);
void mtag_stock_set(const struct mtag_accounts *acc, u32 tag, const s64 nr[MTAG_KINDS]);
void mtag_stock_reset_peak(const struct mtag_accounts *acc, u32 tag);
u64 mtag_stock_clear(const struct mtag_accounts *acc, u32 tag);
void mtag_stock_forget(struct mtag_space *s);

#endif /* MTAG_STOCK_H */
