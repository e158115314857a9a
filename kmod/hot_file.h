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
#include "stock.h"

/* Neither explicit ranges nor stacks make a difference to pages of files. */
#define MTAG_SLOW_FILES	(MTAG_SLOW_WALK | MTAG_SLOW_FORK | MTAG_SLOW_PARKED | MTAG_SLOW_LIMIT)

/*
 * Does this CPU have at hand which tag the whole mapping has, and its account cached? Not if
 * anything is going on in the space. Context: mtag_cpu_hold().
 */
static __always_inline bool mtag_hot_whole(struct mtag_space *s, const struct vm_area_struct *vma,
					   u32 *tag)
{
	/* A walk that begins meanwhile comes here under the same lock, later. */
	if (unlikely(data_race(s->slow) & MTAG_SLOW_FILES))
		return false;
	/* Pairs with the barrier of retag_set(): who misses its flag sees its new ranges. */
	smp_rmb();
	/* See ask_range() for why it is safe to miss a change of ranges here. */
	if (unlikely(this_cpu_read(mtag_answer.version) != data_race(s->ranges.version) ||
		     vma->vm_start < this_cpu_read(mtag_answer.start) ||
		     vma->vm_end > this_cpu_read(mtag_answer.end)))
		return false;
	*tag = this_cpu_read(mtag_answer.tag);
	return likely(mtag_stock_has(s, *tag));
}

/* Pages of one file are mapped. Context: mtag_cpu_hold(). */
static __always_inline enum mtag_left
mtag_hot_mapped(struct mtag_space *s, const struct mtag_args *args, unsigned long parent_ip)
{
	int nr = mtag_ptes_nr(args);
	u32 tag;

	if (unlikely(parent_ip != mtag_map_ip || nr >= MTAG_STOCK_PAGES))
		return MTAG_LEFT_ALL;
	if (unlikely(!mtag_hot_whole(s, mtag_ptes_vma(args), &tag)))
		return MTAG_LEFT_ALL;
	if (unlikely(mtag_stock_come(tag, mtag_file_kind(mtag_ptes_page(args)), nr)))
		return MTAG_LEFT_FULL;
	return MTAG_LEFT_NOTHING;
}

/*
 * Pages are unmapped, probably of one file. The callers at mtag_zap_ip and mtag_unmap_ip drop the
 * contents. Context: mtag_cpu_hold().
 */
static __always_inline enum mtag_left
mtag_hot_dropped(struct mtag_space *s, const struct mtag_args *args, unsigned long parent_ip)
{
	const struct folio *folio;
	int nr = mtag_ptes_nr(args);
	u32 tag;

	if (unlikely((parent_ip != mtag_zap_ip && parent_ip != mtag_unmap_ip) ||
		     nr >= MTAG_STOCK_PAGES))
		return MTAG_LEFT_ALL;
	folio = page_folio(mtag_ptes_page(args));
	if (unlikely(folio_test_anon((struct folio *)folio)))
		return MTAG_LEFT_ALL;
	if (unlikely(!mtag_hot_whole(s, mtag_ptes_vma(args), &tag)))
		return MTAG_LEFT_ALL;
	if (unlikely(mtag_stock_gone(tag, mtag_folio_kind(folio), nr)))
		return MTAG_LEFT_FULL;
	return MTAG_LEFT_NOTHING;
}

#endif /* MTAG_HOT_FILE_H */
