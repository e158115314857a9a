/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot path of a copy-on-write where nothing special is going on: what cow.c does, and the
 * removal of the original. In line, as hot.h is. The charge of the original becomes that of the
 * copy.
 *
 * Runs under the page-table lock of the mapping. Allocates, locks and prints nothing. Not for
 * PREEMPT_RT, where tasks may copy at the same time.
 */
#ifndef MTAG_HOT_COPY_H
#define MTAG_HOT_COPY_H

#include <linux/mm.h>
#include "compat/compat.h"
#include "cow.h"
#include "hot.h"
#include "leaf.h"
#include "mtag.h"
#include "owner.h"
#include "state.h"
#include "stock.h"

/*
 * A copy is mapped. It is charged to the writer, whose tag is filled in @by. Its original, which
 * is removed next, tells the owner.
 */
static __always_inline enum mtag_left
mtag_hot_copy(struct mtag_space *s, const struct mtag_args *args, u32 *by)
{
	enum mtag_left left;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) || unlikely(s->slow))
		return MTAG_LEFT_ALL;
	left = mtag_hot_new_small(s, mtag_new_page(args), by);
	if (unlikely(left == MTAG_LEFT_ALL))
		return left;
	this_cpu_write(mtag_cow_cpu.copies[0].task, current);
	this_cpu_write(mtag_cow_cpu.copies[0].page, mtag_new_page(args));
	this_cpu_write(mtag_cow_cpu.copies[0].space, s);
	this_cpu_write(mtag_cow_cpu.copies[0].addr, mtag_new_addr(args));
	this_cpu_write(mtag_cow_cpu.copies[0].tag, *by);
	return left;
}

/* The copy whose small anonymous @original the current task removes from @vma; or NULL. */
static __always_inline const struct page *
mtag_hot_copy_of(const struct mtag_space *s, const struct vm_area_struct *vma,
		 const struct page *original)
{
	if (unlikely(this_cpu_read(mtag_cow_cpu.copies[0].task) != current ||
		     this_cpu_read(mtag_cow_cpu.copies[0].space) != s ||
		     this_cpu_read(mtag_cow_cpu.copies[0].addr) != mtag_anon_addr(vma, original)))
		return NULL;
	return this_cpu_read(mtag_cow_cpu.copies[0].page);
}

/*
 * The original of a copy is removed, and the writer's charge with it, as far as this CPU has yet to
 * add it to the writer's account.
 */
static __always_inline enum mtag_left
mtag_hot_copied(struct mtag_space *s, const struct mtag_args *args)
{
	struct mtag_section *section = mtag_owner_section(mtag_ptes_page(args));
	u32 tag, writer = this_cpu_read(mtag_cow_cpu.copies[0].tag);
	const struct page *copy;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) || unlikely(mtag_gone_special(args) | s->slow) ||
	    unlikely(READ_ONCE(mtag_leaf_kept)) || unlikely(!section))
		return MTAG_LEFT_ALL;
	tag = READ_ONCE(*mtag_section_tag(section, mtag_ptes_page(args)));
	copy = mtag_hot_copy_of(s, mtag_ptes_vma(args), mtag_ptes_page(args));
	if (unlikely(!copy || tag >= mtag_accounts_nr(rcu_dereference_raw(s->accounts)) ||
		     !mtag_stock_has(s, writer) || !mtag_stock_undo_touched(writer)))
		return MTAG_LEFT_ALL;
	this_cpu_write(mtag_cow_cpu.copies[0].page, NULL);
	/* The copy was given an owner when it was mapped, so it has a section. */
	/* The array may be replaced by a longer one, but is not freed. */
	section = data_race(mtag_sections[mtag_owner_index(copy)]);
	WRITE_ONCE(*mtag_section_tag(section, copy), tag);
	return MTAG_LEFT_NOTHING;
}

#endif /* MTAG_HOT_COPY_H */
