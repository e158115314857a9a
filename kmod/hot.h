/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot path of page events: ordinary first touch and unmapping of small anonymous pages. In
 * line, for rmap.c, which ftrace and kprobes call, and for direct.c, which the hooked functions
 * call themselves.
 *
 * Runs under the page-table lock of the mapping. Allocates, locks and prints nothing, and calls
 * no function.
 */
#ifndef MTAG_HOT_H
#define MTAG_HOT_H

#include <linux/nospec.h>
#include <linux/page-flags.h>
#include "account.h"
#include "caller.h"
#include "compat/compat.h"
#include "mtag.h"
#include "owner.h"
#include "space.h"
#include "state.h"
#include "thread.h"

/* What is left to do for an event */
enum mtag_left {
	MTAG_LEFT_NOTHING,	/* nothing */
	MTAG_LEFT_PEAK,		/* to note the peak of the current tag */
	MTAG_LEFT_ALL,		/* all: it is not as simple as that, and nothing is done */
};

/* The per-CPU counters of @tag, which must have an account. */
static __always_inline struct mtag_hot __percpu *
mtag_hot_of(const struct mtag_accounts *acc, unsigned long tag)
{
	return acc->hot[tag];
}

/*
 * The running thread touches a new small page, and the account of its tag, which is filled in @by,
 * is there. Context: mtag_cpu_hold().
 */
static __always_inline enum mtag_left mtag_hot_new_small(struct mtag_space *s, struct page *page,
							 u32 *by)
{
	const struct mtag_accounts *acc;
	struct mtag_hot __percpu *c;
	struct mtag_section *section;
	unsigned long tag, pfn;

	if (unlikely(mtag_new_is_large(page) || this_cpu_read(mtag_cpu.task) != current ||
		     this_cpu_read(mtag_cpu.space) != s))
		return MTAG_LEFT_ALL;
	tag = READ_ONCE(*this_cpu_read(mtag_cpu.word));
	acc = rcu_dereference_raw(s->accounts);
	/* nr_tags only grows, so a stale value is safe. No thread may have the tag [ksm]. */
	if (unlikely(tag >= data_race(acc->nr_tags) || tag == MTAG_ID_KSM))
		return MTAG_LEFT_ALL;
	tag = array_index_nospec(tag, acc->nr_tags);
	pfn = page_to_pfn(page);
	section = mtag_owner_section(pfn);
	if (unlikely(!section))
		return MTAG_LEFT_ALL;
	*by = tag;
	WRITE_ONCE(*mtag_section_tag(section, pfn), tag);
	c = mtag_hot_of(acc, tag);
	this_cpu_inc(c->touched);
	this_cpu_inc(c->nr[MTAG_ANON]);
	if (unlikely(!(this_cpu_read(c->nr[MTAG_ANON]) % MTAG_PEAK_BATCH)))
		return MTAG_LEFT_PEAK;
	return MTAG_LEFT_NOTHING;
}

/* A new anonymous folio, mapped nowhere yet. Context: mtag_cpu_hold(). */
static __always_inline enum mtag_left
mtag_hot_new(struct mtag_space *s, const struct mtag_args *args, unsigned long parent_ip)
{
	u32 tag;

	if (unlikely(parent_ip != mtag_fault_ip || s->slow))
		return MTAG_LEFT_ALL;
	return mtag_hot_new_small(s, mtag_new_page(args), &tag);
}

/* A page that mtag_gone_special() says nothing of is gone. */
static __always_inline enum mtag_left mtag_hot_gone_small(struct mtag_space *s,
							  const struct page *page)
{
	const struct mtag_accounts *acc = rcu_dereference_raw(s->accounts);
	unsigned long pfn = page_to_pfn(page);
	struct mtag_section *section = mtag_owner_section(pfn);
	u32 tag;

	if (unlikely(!section))
		return MTAG_LEFT_ALL;
	tag = READ_ONCE(*mtag_section_tag(section, pfn));
	/* nr_tags only grows, so a stale value is safe. */
	if (unlikely(tag >= data_race(acc->nr_tags)))
		return MTAG_LEFT_ALL;
	this_cpu_dec(mtag_hot_of(acc, tag)->nr[MTAG_ANON]);
	return MTAG_LEFT_NOTHING;
}

/*
 * Pages are unmapped. The caller at mtag_zap_ip drops the contents. mtag_gone_special() tells from
 * the arguments and the page whether it is a single anonymous page, not merged.
 */
static __always_inline enum mtag_left
mtag_hot_gone(struct mtag_space *s, const struct mtag_args *args, unsigned long parent_ip)
{
	if (unlikely(parent_ip != mtag_zap_ip))
		return MTAG_LEFT_ALL;
	if (unlikely(mtag_gone_special(args) | s->slow))
		return MTAG_LEFT_ALL;
	return mtag_hot_gone_small(s, mtag_ptes_page(args));
}

#endif /* MTAG_HOT_H */
