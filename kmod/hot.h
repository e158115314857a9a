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

#include <linux/page-flags.h>
#include "caller.h"
#include "compat/compat.h"
#include "compat/percpu.h"
#include "mtag.h"
#include "owner.h"
#include "space.h"
#include "state.h"
#include "stock.h"
#include "thread.h"
#include "word.h"

/* What is left to do for an event */
enum mtag_left {
	MTAG_LEFT_NOTHING,	/* nothing */
	MTAG_LEFT_FULL,		/* to mtag_account_full(), on the same CPU */
	MTAG_LEFT_ALL,		/* all: it is not as simple as that, and nothing is done */
};

/*
 * The running thread touches a new small page, and this CPU has the account of its tag, which is
 * filled in @by, cached. Context: mtag_cpu_hold().
 */
static __always_inline enum mtag_left mtag_hot_new_small(struct mtag_space *s, struct page *page,
							 u32 *by)
{
	struct mtag_section *section;
	u32 tag;

	if (unlikely(mtag_new_is_large(page) || !mtag_percpu_is(mtag_cpu.task, current) ||
		     !mtag_percpu_is(mtag_cpu.space, s)))
		return MTAG_LEFT_ALL;
	tag = mtag_word_read(this_cpu_read(mtag_cpu.word));
	if (unlikely(!mtag_stock_has(s, tag)))
		return MTAG_LEFT_ALL;
	section = mtag_owner_section(page);
	if (unlikely(!section))
		return MTAG_LEFT_ALL;
	*by = tag;
	WRITE_ONCE(*mtag_section_tag(section, page), tag);
	return unlikely(mtag_stock_come(tag, MTAG_ANON, 1)) ? MTAG_LEFT_FULL : MTAG_LEFT_NOTHING;
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

/*
 * A page that mtag_gone_special() says nothing of is gone, and this CPU has the account of its tag
 * cached. Context: mtag_cpu_hold().
 */
static __always_inline enum mtag_left mtag_hot_gone_small(struct mtag_space *s,
							  const struct page *page)
{
	struct mtag_section *section = mtag_owner_section_or_none(page);
	u32 tag;

	if (unlikely(!section))
		return MTAG_LEFT_ALL;
	/* Where there is no section it reads as MTAG_MIXED, which no CPU has cached. */
	tag = READ_ONCE(*mtag_section_tag(section, page));
	if (unlikely(!mtag_stock_has(s, tag)))
		return MTAG_LEFT_ALL;
	return unlikely(mtag_stock_gone(tag, MTAG_ANON, 1)) ? MTAG_LEFT_FULL : MTAG_LEFT_NOTHING;
}

/*
 * Pages are unmapped. The caller at mtag_zap_ip drops the contents. mtag_gone_special() tells from
 * the arguments and the page whether it is a single anonymous page, not merged. Context:
 * mtag_cpu_hold().
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
