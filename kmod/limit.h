/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits of tags: numbers of resident pages whose crossing somebody wants to know; limit.c.
 */
#ifndef MTAG_LIMIT_H
#define MTAG_LIMIT_H

#include <linux/irq_work.h>
#include <linux/rculist.h>
#include <linux/types.h>
#include "state.h"

/* So many pages of a kind make a CPU add them to the record, and look at the peak and limits. */
#define MTAG_STOCK_PAGES	64

/**
 * struct mtag_limit - a limit of a tag
 * @node:	in space->limits; RCU, changed under watch_lock
 * @tag:	id; constant
 * @always:	too low for @near to be worth it; constant
 * @near:	so few pages are missing that each event counts. Only raised and cleared whole;
 *		READ_ONCE, WRITE_ONCE
 * @crossed:	0 or 1: the tag has reached @pages, and not fallen to @again since; by cmpxchg()
 * @pages:	resident pages at which it is crossed; constant
 * @again:	once it has fallen to this, a later crossing is another one; constant
 * @signal:	queued by the event that crosses the limit
 * @replacing:	pages of the tag that have begun to replace others, while a limit is near
 * @seen:	@replacing as a look from beside saw it, or -1; seen_lock
 * @seen_at:	cookie of RCU: when that was; seen_lock
 */
struct mtag_limit {
	struct hlist_node node;
	u32 tag;
	bool always;
	bool near;
	unsigned int crossed;
	s64 pages;
	s64 again;
	struct irq_work signal;
	atomic_t replacing;
	int seen;
	unsigned long seen_at;
};

/* Has a limit of @s to do with @tag? Context: any. */
static inline bool mtag_limit_watched(struct mtag_space *s, u32 tag)
{
	struct mtag_limit *l;
	bool found = false;

	if (likely(hlist_empty(&s->limits)))
		return false;
	rcu_read_lock();
	hlist_for_each_entry_rcu(l, &s->limits, node)
		found |= l->tag == tag;
	rcu_read_unlock();
	return found;
}

void mtag_limit_init(struct mtag_limit *l, u32 tag, s64 pages);
void mtag_limit_add(struct mtag_space *s, struct mtag_limit *l);
void mtag_limit_del(struct mtag_limit *l);
void mtag_limit_gone(struct mtag_space *s, struct mtag_limit *l);
bool mtag_limit_see(struct mtag_space *s, struct mtag_limit *l, s64 pages);
void mtag_limit_replacing(struct mtag_space *s, u32 tag);
bool mtag_limit_at_rest(struct mtag_limit *l, int replacing);

#endif /* MTAG_LIMIT_H */
