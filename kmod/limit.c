// SPDX-License-Identifier: GPL-2.0
/*
 * Notices when a tag crosses a limit, in the very event that does it.
 *
 * The hot path compares nothing. Once a CPU has counted 64 pages of a tag and kind, it adds them to
 * the account, for the peak, too. That is enough while the tag is far from its limit. Once it is
 * near, MTAG_SLOW_LIMIT sends the events of this space, and of no other, through the slow path,
 * where each of them is compared.
 */
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include "limit.h"
#include "mtag.h"

/* Protects mtag_limit.seen and .seen_at of all limits. Innermost. */
static DEFINE_RAW_SPINLOCK(seen_lock);

/*
 * Pages that all CPUs can add without a comparison: MTAG_STOCK_PAGES at most of each of three kinds
 * by the hot path, and as many otherwise. One more share covers events that began before the bit
 * was set.
 */
static s64 max_unseen_pages(void)
{
	return (s64)num_possible_cpus() * MTAG_STOCK_PAGES * (3 + 3 + 1);
}

/* A limit counts as crossed until an eighth of it is free again. */
static s64 hysteresis(s64 pages)
{
	return max_t(s64, pages / 8, 1);
}

/**
 * mtag_limit_init() - fill in a limit, except its @signal
 * @l:		zeroed; it is in no list yet
 * @tag:	id
 * @pages:	resident pages at which it is crossed
 *
 * It begins near, and not crossed. Context: any.
 */
void mtag_limit_init(struct mtag_limit *l, u32 tag, s64 pages)
{
	l->tag = tag;
	l->pages = pages;
	l->again = pages - hysteresis(pages);
	/*
	 * Far above its limit a tag may fall by unmapping alone, which the hot path does not
	 * compare, and rise again. A fall to @again must not pass unnoticed between two sums.
	 */
	l->always = hysteresis(pages) < 2 * max_unseen_pages();
	l->near = true;
	l->crossed = 0;
	atomic_set(&l->replacing, 0);
	l->seen = -1;
}

static bool any_near(struct mtag_space *s)
{
	struct mtag_limit *l;

	hlist_for_each_entry_rcu(l, &s->limits, node)
		if (READ_ONCE(l->near))
			return true;
	return false;
}

static void come_near(struct mtag_space *s, struct mtag_limit *l)
{
	WRITE_ONCE(l->near, true);
	/* A full barrier: pairs with go_away(), and comes before the caller looks again. */
	mtag_space_change_slow_nolock(s, MTAG_SLOW_LIMIT, 0);
}

/* Context: RCU read side. */
static void go_away(struct mtag_space *s, struct mtag_limit *l)
{
	WRITE_ONCE(l->near, false);
	/*
	 * Of two limits that go away at once, one sees that none is near; and an event that still
	 * saw @l near is in the counters that the caller adds up again. Pairs with itself, and with
	 * the account lock in mtag_stock_resident().
	 */
	smp_mb();
	if (any_near(s))
		return;
	/* A full barrier: another limit's @near is seen below, or sets the bit after us. */
	mtag_space_change_slow_nolock(s, 0, MTAG_SLOW_LIMIT);
	if (any_near(s))
		mtag_space_change_slow_nolock(s, MTAG_SLOW_LIMIT, 0);
}

/* Compares with a distance of its own for coming and going, so that the bit does not flutter. */
static bool measure_limit(struct mtag_space *s, struct mtag_limit *l, s64 pages)
{
	s64 way = abs(pages - (READ_ONCE(l->crossed) ? l->again : l->pages));

	if (l->always)
		return false;
	if (way <= max_unseen_pages() && !READ_ONCE(l->near))
		come_near(s, l);
	else if (way > 2 * max_unseen_pages() && READ_ONCE(l->near))
		go_away(s, l);
	else
		return false;
	return true;
}

static void step_limit(struct mtag_limit *l, s64 pages)
{
	if (pages >= l->pages) {
		if (!READ_ONCE(l->crossed) && !cmpxchg(&l->crossed, 0, 1))
			irq_work_queue(&l->signal);
	} else if (pages <= l->again && READ_ONCE(l->crossed)) {
		cmpxchg(&l->crossed, 1, 0);
	}
}

/**
 * mtag_limit_see() - a tag that has a limit has so many resident pages now
 * @s:		space
 * @l:		the limit
 * @pages:	anonymous, file and shared ones
 *
 * Context: any but NMI; RCU read side.
 * Return: whether @l came near or went away. @pages may have been old then, and events that were
 * compared with nothing may have passed meanwhile, of other tags, too: the caller adds up the
 * counters of all that have limits, and looks again.
 */
bool mtag_limit_see(struct mtag_space *s, struct mtag_limit *l, s64 pages)
{
	step_limit(l, pages);
	return measure_limit(s, l, pages);
}

/**
 * mtag_limit_replacing() - a page of @tag is counted next, and one that it replaces is to go
 * @s:		space, of which a limit is near
 * @tag:	id
 *
 * Context: page-table lock, until the other page has gone.
 */
void mtag_limit_replacing(struct mtag_space *s, u32 tag)
{
	struct mtag_limit *l;

	rcu_read_lock();
	hlist_for_each_entry_rcu(l, &s->limits, node)
		if (l->tag == tag)
			atomic_inc(&l->replacing);
	rcu_read_unlock();
	/* Whoever sees the page counted sees this, too: pairs with mtag_limit_at_rest(). */
	smp_mb__after_atomic();
}

/**
 * mtag_limit_at_rest() - was no page of the tag about to be replaced while pages were summed up?
 * @l:		the limit
 * @replacing:	@l->replacing before the sum, acquired
 *
 * True if no page has begun to replace another since a look that lies a grace period back: those
 * of before have ended in it, as they hold a page-table lock. One whose end the kernel does not
 * tell, the copy of the zero page, has ended then, too. If pages are replaced all the time this
 * stays false, and each end of a replacement, which is an event, makes the comparison.
 * Context: RCU read side.
 */
bool mtag_limit_at_rest(struct mtag_limit *l, int replacing)
{
	bool rests;
	int now;

	/* The sum comes before this. Pairs with mtag_limit_replacing(). */
	smp_rmb();
	raw_spin_lock(&seen_lock);
	now = atomic_read(&l->replacing);
	rests = now == replacing && now == l->seen && poll_state_synchronize_rcu(l->seen_at);
	if (now != l->seen) {
		l->seen = now;
		l->seen_at = get_state_synchronize_rcu();
	}
	raw_spin_unlock(&seen_lock);
	return rests;
}

/*
 * Adds @l, to be told of each event until it turns out to be far. Caller holds watch_lock and
 * compares once itself: mtag_account_check_limits().
 */
void mtag_limit_add(struct mtag_space *s, struct mtag_limit *l)
{
	hlist_add_head_rcu(&l->node, &s->limits);
	come_near(s, l);
}

/* Takes @l out. Caller holds watch_lock, and owes mtag_limit_gone() after a grace period. */
void mtag_limit_del(struct mtag_limit *l)
{
	hlist_del_init_rcu(&l->node);
}

/*
 * No event sees @l any longer: it keeps none of @s from the hot path. Caller looks again after
 * that, as after mtag_limit_see(). Context: may sleep.
 */
void mtag_limit_gone(struct mtag_space *s, struct mtag_limit *l)
{
	rcu_read_lock();
	go_away(s, l);
	rcu_read_unlock();
	irq_work_sync(&l->signal);
}
