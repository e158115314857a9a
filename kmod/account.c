// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the counters of each (space, tag), and compares them with limits.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include "account.h"
#include "limit.h"
#include "mtag.h"
#include "state.h"
#include "stock.h"

#define BATCH	256U	/* tags between two chances to schedule */

/* ---- names that a space knows ---- */

/*
 * Lets the space of @acc know the name of @tag. A space that has left its tree, while a call of
 * its process is under way, has no account for tags that others made since.
 * Context: tree->lock, unless @acc is new.
 */
void __noendbr mtag_account_know(struct mtag_accounts *acc, unsigned int tag)
{
	if (tag < mtag_accounts_nr(acc))
		WRITE_ONCE(mtag_accounts_of(acc, tag)->known, true);
}

/* Context: caller keeps @acc from being freed. */
bool __noendbr mtag_account_known(const struct mtag_accounts *acc, unsigned int tag)
{
	return tag < mtag_accounts_nr(acc) && READ_ONCE(mtag_accounts_of(acc, tag)->known);
}

/* Copies to a new space the names that its parent knows. Context: caller keeps both alive. */
void mtag_account_inherit(struct mtag_accounts *to, const struct mtag_accounts *from)
{
	unsigned int tag, end = min(to->nr_tags, mtag_accounts_nr(from));

	for (tag = 0; tag < end; tag++)
		mtag_accounts_of(to, tag)->known = mtag_account_known(from, tag);
}

/* ---- limits ---- */

/*
 * Compares tags that have limits with them: @only this one, or all if that is negative. Of the
 * pages of @tag @transient are about to go. Return: whether a limit came near or went away.
 * Not in line: its caller would save more registers, also where no limit is near.
 */
static noinline bool limits_see(struct mtag_space *s, const struct mtag_accounts *acc, int only,
				unsigned int tag, int transient)
{
	struct mtag_limit *l;
	bool moved = false;
	s64 now;

	rcu_read_lock();
	hlist_for_each_entry_rcu(l, &s->limits, node) {
		if (l->tag >= mtag_accounts_nr(acc) || (only >= 0 && l->tag != only))
			continue;
		now = mtag_stock_resident(acc, l->tag) - (l->tag == tag ? transient : 0);
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
	/*
	 * Each sum is made with a lock that the next one takes: of two CPUs that change the
	 * counters, one sees both changes.
	 */
	while (limits_see(s, acc, only, tag, transient))
		only = -1;
}

/**
 * mtag_account_look_at_limits() - compare all tags that have limits with them, beside the events
 * @s:		space
 * @looks:	how often the caller has looked already
 *
 * Seen from outside the event, a copy that has yet to replace its original is one page too many. So
 * a limit that copies alone may have reached counts as not reached, unless the tag is at rest.
 * Where pages are copied all the time, each copy is an event and makes the comparison itself.
 *
 * Context: any but interrupts.
 * Return: whether the caller is to look again, until MTAG_LOOKS after a grace period: in it the
 * copies that were seen have ended.
 */
bool mtag_account_look_at_limits(struct mtag_space *s, int looks)
{
	const struct mtag_accounts *acc;
	struct mtag_limit *l;
	bool again = false;
	int replacing;
	s64 now;

	rcu_read_lock();
	acc = rcu_dereference(s->accounts);
	hlist_for_each_entry_rcu(l, &s->limits, node) {
		if (l->tag >= mtag_accounts_nr(acc))
			continue;
		replacing = atomic_read_acquire(&l->replacing);
		now = mtag_stock_resident(acc, l->tag);
		if (!READ_ONCE(l->crossed) && now >= l->pages &&
		    now < l->pages + num_possible_cpus() && !mtag_limit_at_rest(l, replacing)) {
			now = l->pages - 1;
			again |= looks < MTAG_LOOKS;
		}
		again |= mtag_limit_see(s, l, now);
	}
	rcu_read_unlock();
	return again;
}

/**
 * mtag_account_check_limits() - compare all tags that have limits with them
 * @s:		space
 *
 * For callers that change counters otherwise than by the functions below, and for new limits. A
 * process whose tags come near a limit and leave it all the time could keep us here: after
 * MTAG_LOOKS_MOST its own events have to do.
 * Context: may sleep.
 */
void mtag_account_check_limits(struct mtag_space *s)
{
	int looks;

	for (looks = 0; looks < MTAG_LOOKS_MOST && mtag_account_look_at_limits(s, looks); looks++) {
		if (looks < MTAG_LOOKS)
			synchronize_rcu();
		cond_resched();
	}
}

/* ---- changes ---- */

/**
 * mtag_account_enter() - have this CPU cache an account
 * @s:		space
 * @tag:	id that has an account, but not MTAG_ID_KSM
 *
 * Context: preemption disabled.
 */
void __noendbr mtag_account_enter(struct mtag_space *s, u32 tag)
{
	struct mtag_space *left;
	u32 left_tag;

	if (mtag_stock_has(s, tag))
		return;
	/*
	 * Near a limit each event has been compared already; and to another CPU a copy that has yet
	 * to replace its original looks like one page more.
	 */
	if (mtag_stock_leave(tag, &left, &left_tag) &&
	    !(READ_ONCE(left->slow) & MTAG_SLOW_LIMIT))
		limit_note(left, rcu_dereference_check(left->accounts, true), left_tag, 0);
	mtag_stock_enter(s, tag);
}

/* What mtag_stock_add() cannot do. Context: preemption disabled. */
static noinline void change_slowly(struct mtag_space *s, unsigned int tag, enum mtag_kind kind,
				   int pages, int transient)
{
	const struct mtag_accounts *acc = rcu_dereference_check(s->accounts, true);

	if (unlikely(tag >= mtag_accounts_nr(acc))) {
		mtag_space_mark_dirty(s);
		tag = MTAG_ID_UNTAGGED;
	}
	if (abs(pages) >= MTAG_STOCK_PAGES) {
		mtag_stock_add_record(acc, tag, kind, pages, 0, transient);
		limit_note(s, acc, tag, transient);
		return;
	}
	/* No CPU caches [ksm], which no thread may have: see mtag_stock_has(). */
	if (tag != MTAG_ID_KSM)
		mtag_account_enter(s, tag);
	if (!mtag_stock_add(s, tag, kind, pages))
		mtag_stock_add_record(acc, tag, kind, pages, 0, transient);
	limit_note(s, acc, tag, transient);
}

static __always_inline void account_change(struct mtag_space *s, unsigned int tag,
					   enum mtag_kind kind, int pages, int transient)
{
	/* A page-table lock does so, except on PREEMPT_RT. */
	preempt_disable();
	if (unlikely(!mtag_stock_add(s, tag, kind, pages)))
		change_slowly(s, tag, kind, pages, transient);
	else if (unlikely(READ_ONCE(s->slow) & MTAG_SLOW_LIMIT) && kind != MTAG_SWAP)
		limit_note(s, rcu_dereference_check(s->accounts, true), tag, transient);
	preempt_enable();
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
void __noendbr mtag_account_add(struct mtag_space *s, unsigned int tag, enum mtag_kind kind,
				int pages)
{
	account_change(s, tag, kind, pages, 0);
}

/* As mtag_account_add(), for many pages that @tag, which must have an account, first touches. */
void __noendbr mtag_account_come(struct mtag_space *s, unsigned int tag, enum mtag_kind kind,
				 int pages)
{
	const struct mtag_accounts *acc;

	preempt_disable();
	acc = rcu_dereference_check(s->accounts, true);
	mtag_stock_add_record(acc, tag, kind, pages, pages, 0);
	limit_note(s, acc, tag, 0);
	preempt_enable();
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
void __noendbr mtag_account_replace(struct mtag_space *s, unsigned int tag)
{
	if (unlikely(READ_ONCE(s->slow) & MTAG_SLOW_LIMIT))
		mtag_limit_replacing(s, tag);
	account_change(s, tag, MTAG_ANON, 1, 1);
}

static noinline void touch_slowly(struct mtag_space *s, unsigned int tag, s64 pages)
{
	const struct mtag_accounts *acc = rcu_dereference_check(s->accounts, true);

	if (tag >= mtag_accounts_nr(acc))
		return;
	if (tag != MTAG_ID_KSM && abs(pages) < MTAG_STOCK_PAGES) {
		mtag_account_enter(s, tag);
		if (mtag_stock_touch(s, tag, pages))
			return;
	}
	mtag_stock_touch_record(acc, tag, pages);
}

/* Counts first touches of @pages. Context: as mtag_account_add(). */
void __noendbr mtag_account_touch(struct mtag_space *s, unsigned int tag, s64 pages)
{
	preempt_disable();
	if (unlikely(!mtag_stock_touch(s, tag, pages)))
		touch_slowly(s, tag, pages);
	preempt_enable();
}

/**
 * mtag_account_full() - this CPU's hot path has counted as many pages of @tag as it can
 * @s:		space
 * @tag:	id, which the CPU has cached
 * @transient:	so many of the pages are about to go, and do not raise the peak
 *
 * This also raises the peak to the resident pages. As it does so once per 64 pages and CPU, a peak
 * may be too low by fewer than 128 pages per CPU of each kind: see struct mtag_stock. Pages under
 * migration do not raise it, as some of them may be gone.
 * Context: preemption disabled since.
 */
void __noendbr mtag_account_full(struct mtag_space *s, u32 tag, int transient)
{
	const struct mtag_accounts *acc = rcu_dereference_check(s->accounts, true);

	mtag_stock_full(acc, tag, transient);
	limit_note(s, acc, tag, transient);
}

/* ---- readers ---- */

/**
 * mtag_account_fold() - sum up the current numbers of @tag, in pages
 * @acc:	accounts of a space
 * @tag:	id below acc->nr_tags
 * @sum:	filled
 *
 * Context: caller keeps @acc from being freed.
 */
void __noendbr mtag_account_fold(const struct mtag_accounts *acc, unsigned int tag,
				 struct mtag_sum *sum)
{
	mtag_stock_read(acc, tag, sum);
}

/* As mtag_account_fold(), for showing: no number is negative, and the peak is raised. */
void __noendbr mtag_account_read(const struct mtag_accounts *acc, unsigned int tag,
				 struct mtag_sum *sum)
{
	mtag_stock_show(acc, tag, sum);
}

/**
 * mtag_account_read_all() - as mtag_account_read(), of all tags below @nr_tags
 * @s:		space
 * @nr_tags:	no more than have an account
 * @sums:	by tag; filled for tags whose bit is set in @has; or NULL
 * @has:	unless @sums is NULL: bits of tags with a sum that is not 0 are set
 * @total:	filled: their sum, without the peaks
 *
 * O(tags + CPUs that the process has run on). Context: may sleep; caller holds a reference.
 */
void mtag_account_read_all(struct mtag_space *s, unsigned int nr_tags, struct mtag_sum *sums,
			   unsigned long *has, struct mtag_sum *total)
{
	unsigned int slot;

	memset(total, 0, sizeof(*total));
	for (slot = 0; slot < min(nr_tags, MTAG_SLOTS); slot++) {
		rcu_read_lock();
		mtag_stock_show_slot(rcu_dereference(s->accounts), nr_tags, slot, sums, has, total);
		rcu_read_unlock();
		if (nr_tags > BATCH)
			cond_resched();
	}
}

/* The number of tags that have an account in @s: it only grows. Context: any. */
unsigned int mtag_account_tags(struct mtag_space *s)
{
	unsigned int nr_tags;

	rcu_read_lock();
	nr_tags = mtag_accounts_nr(rcu_dereference(s->accounts));
	rcu_read_unlock();
	return nr_tags;
}

/* Has @tag pages, or swapped ones? Context: as mtag_account_fold(). */
bool mtag_account_owns(const struct mtag_accounts *acc, u32 tag)
{
	struct mtag_sum sum;

	mtag_account_fold(acc, tag, &sum);
	return memchr_inv(sum.nr, 0, sizeof(sum.nr));
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

/* ---- changes of a whole account ---- */

/**
 * mtag_account_set() - set the page counts of @tag to @nr
 * @acc:	accounts of a space
 * @tag:	id below acc->nr_tags
 * @nr:		pages by kind
 *
 * Context: walk_lock of the space, with MTAG_SLOW_WALK set, so that no event changes the counters
 * meanwhile; or a child that is being forked: fork.c checks afterwards that there was no event.
 */
void mtag_account_set(struct mtag_accounts *acc, unsigned int tag, const s64 nr[MTAG_KINDS])
{
	mtag_stock_set(acc, tag, nr);
}

/* Resets all peaks to the current resident pages. Context: may sleep. */
void mtag_account_reset_peaks(struct mtag_space *s)
{
	struct mtag_accounts *acc;
	unsigned int tag = 0, end;

	do {
		rcu_read_lock();
		acc = rcu_dereference(s->accounts);
		for (end = min(mtag_accounts_nr(acc), tag + BATCH); tag < end; tag++)
			mtag_stock_reset_peak(acc, tag);
		end = mtag_accounts_nr(acc);
		rcu_read_unlock();
		cond_resched();
	} while (tag < end);
}

/**
 * mtag_account_give() - give what only grows to another account, so that no sum gets lower
 * @s:		space
 * @tag:	id that owns nothing, and gets another name
 * @to:		id of the tag that was above it
 *
 * Context: tree->lock.
 */
void mtag_account_give(struct mtag_space *s, u32 tag, u32 to)
{
	struct mtag_accounts *acc;

	lockdep_assert_held(&s->tree->lock);
	rcu_read_lock();
	acc = rcu_dereference(s->accounts);
	WRITE_ONCE(mtag_accounts_of(acc, tag)->known, false);
	mtag_account_touch(s, to, mtag_stock_clear(acc, tag));
	rcu_read_unlock();
}
