/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot path of pages of files and of shared memory: they come by a touch, or go, in a mapping
 * all of which has one tag. In line, as hot.h is.
 *
 * Runs under the page-table lock of the mapping. Allocates, locks and prints nothing, and calls no
 * function.
 */
#ifndef MTAG_HOT_FILE_H
#define MTAG_HOT_FILE_H

#include <linux/mm.h>
#include "answer.h"
#include "caller.h"
#include "compat/compat.h"
#include "file.h"
#include "hot.h"
#include "mtag.h"
#include "state.h"

/* Neither explicit ranges nor stacks make a difference to pages of files. */
#define MTAG_SLOW_FILES	(MTAG_SLOW_WALK | MTAG_SLOW_FORK | MTAG_SLOW_PARKED | MTAG_SLOW_LIMIT)

/*
 * The counters of the tag of the whole mapping, if this CPU has the answer at hand and nothing is
 * going on in the space; or NULL. Context: mtag_cpu_hold().
 */
static __always_inline struct mtag_hot __percpu *
mtag_hot_whole(struct mtag_space *s, const struct vm_area_struct *vma)
{
	const struct mtag_accounts *acc = rcu_dereference_raw(s->accounts);
	u32 tag;

	/* A walk that begins meanwhile comes here under the same lock, later. */
	if (unlikely(data_race(s->slow) & MTAG_SLOW_FILES))
		return NULL;
	/* Pairs with the end of a retag: who misses its flag sees its new ranges. */
	smp_rmb();
	/* What of the changes to ranges is missed here, ask() in range.c says. */
	if (unlikely(this_cpu_read(mtag_answer.version) != data_race(s->ranges.version) ||
		     vma->vm_start < this_cpu_read(mtag_answer.start) ||
		     vma->vm_end > this_cpu_read(mtag_answer.end)))
		return NULL;
	tag = this_cpu_read(mtag_answer.tag);
	/* nr_tags only grows, so a stale value is safe. */
	if (unlikely(tag >= data_race(acc->nr_tags)))
		return NULL;
	return mtag_hot_of(acc, tag);
}

/* Pages of one file are mapped. Context: mtag_cpu_hold(). */
static __always_inline enum mtag_left
mtag_hot_mapped(struct mtag_space *s, const struct mtag_args *args, unsigned long parent_ip)
{
	struct mtag_hot __percpu *hot;
	enum mtag_kind kind;
	u32 now;
	int nr;

	if (unlikely(parent_ip != mtag_map_ip))
		return MTAG_LEFT_ALL;
	hot = mtag_hot_whole(s, mtag_ptes_vma(args));
	if (unlikely(!hot))
		return MTAG_LEFT_ALL;
	kind = mtag_file_kind(mtag_ptes_page(args));
	nr = mtag_ptes_nr(args);
	this_cpu_add(hot->touched, nr);
	now = this_cpu_add_return(hot->nr[kind], nr);
	if (unlikely(now % MTAG_PEAK_BATCH < nr))
		return MTAG_LEFT_PEAK;
	return MTAG_LEFT_NOTHING;
}

/*
 * Pages are unmapped, probably of one file. The callers at mtag_zap_ip and mtag_unmap_ip drop the
 * contents. Context: mtag_cpu_hold().
 */
static __always_inline enum mtag_left
mtag_hot_dropped(struct mtag_space *s, const struct mtag_args *args, unsigned long parent_ip)
{
	const struct page *page = mtag_ptes_page(args);
	struct mtag_hot __percpu *hot;

	if (unlikely(parent_ip != mtag_zap_ip && parent_ip != mtag_unmap_ip))
		return MTAG_LEFT_ALL;
	if (unlikely(folio_test_anon(page_folio((struct page *)page))))
		return MTAG_LEFT_ALL;
	hot = mtag_hot_whole(s, mtag_ptes_vma(args));
	if (unlikely(!hot))
		return MTAG_LEFT_ALL;
	this_cpu_sub(hot->nr[mtag_file_kind(page)], mtag_ptes_nr(args));
	return MTAG_LEFT_NOTHING;
}

#endif /* MTAG_HOT_FILE_H */
