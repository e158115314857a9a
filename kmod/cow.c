// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a copy, by copy-on-write or by uprobes, the owner of its original. The kernel maps the copy
 * first and then removes the original, and only the removal tells the owner.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include "account.h"
#include "caller.h"
#include "charge.h"
#include "cow.h"
#include "hooked.h"
#include "ksm.h"
#include "leaf.h"
#include "mtag.h"
#include "owner.h"
#include "state.h"
#include "thread.h"
#include "touched.h"
#include "visit.h"

DEFINE_PER_CPU(struct mtag_cow_cpu, mtag_cow_cpu);

/*
 * Choose the note for a copy that the current task begins: the note that the task
 * used before, or one whose copy has ended, or the oldest. The oldest is most
 * likely a copy of the zero page, which ends without a removal.
 */
static struct mtag_cow_note *note_begun(struct mtag_cow_cpu *cpu)
{
	struct mtag_cow_note *note = cpu->copies, *each;

	for (each = cpu->copies; each < cpu->copies + MTAG_COPIES; each++) {
		if (each->task == current) {
			note = each;
			break;
		}
		if (note->page && (!each->page || (s32)(each->turn - note->turn) < 0))
			note = each;
	}
	if (MTAG_COPIES > 1)
		note->turn = cpu->turn++;
	return note;
}

/* Find the copy that the current task has begun on this CPU. */
static struct mtag_cow_note *note_find(struct mtag_cow_cpu *cpu)
{
	struct mtag_cow_note *each;

	for (each = cpu->copies; each < cpu->copies + MTAG_COPIES; each++)
		if (each->task == current && each->page)
			return each;
	return NULL;
}

/**
 * mtag_cow_begin() - a copy is mapped; the original, which tells the owner, is removed next
 * @s:		space
 * @page:	the copy
 * @addr:	address of the copy
 * @tag:	its owner until then
 *
 * Context: page-table lock.
 */
void __noendbr mtag_cow_begin(struct mtag_space *s, struct page *page, unsigned long addr, u32 tag)
{
	struct mtag_cow_note *note;

	mtag_owner_set(page, tag);
	mtag_charge_replacing(s, mtag_owner_get(page), addr);
	mtag_account_touch(s, tag, 1);
	mtag_cpu_hold();
	note = note_begun(this_cpu_ptr(&mtag_cow_cpu));
	note->task = current;
	note->page = page;
	note->space = s;
	note->addr = addr;
	note->tag = tag;
	mtag_cpu_release();
}

/*
 * Find the copy of the page that @caller removes from @addr, its address and
 * its owner. NULL if the copy is not known.
 */
static struct page *copy_of(struct mtag_space *s, struct mm_struct *mm, unsigned long *addr,
			    u32 *tag, enum mtag_caller caller)
{
	/* Uprobes also remove pages without a copy: a note found then is a stale one. */
	bool noted = caller == MTAG_BY_COPY;
	struct page *copy = NULL;
	struct mtag_cow_note *note;

	mtag_cpu_hold();
	note = note_find(this_cpu_ptr(&mtag_cow_cpu));
	/* A copy of the zero page ends without a removal: its note may still be here. */
	if (noted && note && note->space == s && (*addr == MTAG_NO_ADDR || *addr == note->addr)) {
		copy = (struct page *)note->page;
		*addr = note->addr;
		*tag = note->tag;
		note->page = NULL;
	}
	mtag_cpu_release();
	/*
	 * Otherwise, or if too many other tasks copied on this CPU meanwhile, ask the page table,
	 * which cannot tell for KSM pages.
	 */
	if ((!noted || IS_ENABLED(CONFIG_PREEMPT_RT)) && !copy && *addr != MTAG_NO_ADDR) {
		copy = mtag_visit_page(mm, *addr);
		if (copy)
			*tag = mtag_owner_get(copy);
	}
	return copy;
}

/* The copy has the stack of its original, and its writer has not touched it first. */
static noinline void keep_stack(struct mtag_space *s, const struct page *copy,
				const struct page *original, u32 copy_tag)
{
	/*
	 * If the copy began before stacks were taken, the leaf is another process's. At most one
	 * page is affected.
	 */
	if (mtag_space_stacks(s))
		mtag_touched_add(s->stacks.touched, copy_tag, mtag_leaf_read(copy).stack, -1);
	mtag_ksm_leaf_copy(copy, original);
}

/**
 * mtag_cow_end() - the original is removed: its owner becomes the owner of the copy
 * @s:		space of @mm
 * @mm:		mm that both are mapped in
 * @original:	anonymous
 * @addr:	address of both, or MTAG_NO_ADDR
 * @caller:	caller that removes the original
 *
 * The copy of a KSM page belongs to its writer, like the copy of a file page.
 * Context: page-table lock.
 */
void __noendbr mtag_cow_end(struct mtag_space *s, struct mm_struct *mm, const struct page *original,
			    unsigned long addr, enum mtag_caller caller)
{
	u32 tag = mtag_ksm_owner(s, original), copy_tag;
	struct page *copy = copy_of(s, mm, &addr, &copy_tag, caller);

	if (!copy || tag == MTAG_ID_KSM)
		return;
	mtag_charge(s, copy_tag, MTAG_ANON, -1, addr);
	mtag_account_touch(s, copy_tag, -1);
	mtag_owner_set(copy, tag);
	if (READ_ONCE(mtag_leaf_kept))
		keep_stack(s, copy, original, copy_tag);
	/* The original is released next. */
	mtag_charge_replacing(s, tag, addr);
}
