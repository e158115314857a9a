// SPDX-License-Identifier: GPL-2.0
/*
 * Copies: of a page that is written while others have it too, and of one that uprobes replace.
 * The kernel maps the copy first and removes the original then, which alone tells the owner.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include "account.h"
#include "caller.h"
#include "charge.h"
#include "cow.h"
#include "mtag.h"
#include "owner.h"
#include "state.h"
#include "thread.h"
#include "visit.h"

/**
 * struct cow_note - a copy-on-write between its two events
 * @task:	has just added …
 * @page:	… this page, until the original is removed; NULL: has been
 * @space:	of @page
 * @addr:	user address of @page
 * @tag:	what @page was charged to
 * @turn:	which of the copies on this CPU it is
 */
struct cow_note {
	struct task_struct *task;
	const struct page *page;
	struct mtag_space *space;
	unsigned long addr;
	u32 tag;
	u32 turn;
};

/*
 * Between the two events only the page-table lock is held, which on PREEMPT_RT
 * lets other tasks run on this CPU, and copy, too.
 */
#define COPIES	(IS_ENABLED(CONFIG_PREEMPT_RT) ? 8 : 1)

/**
 * struct cow_cpu - the copies of a CPU
 * @turn:	copies that have begun
 * @copies:	those that have not ended
 *
 * Used with preemption disabled.
 */
struct cow_cpu {
	u32 turn;
	struct cow_note copies[COPIES];
};

static DEFINE_PER_CPU(struct cow_cpu, cow_cpu);

/*
 * Where the current task notes that it has begun a copy: where it did before; or
 * where a copy has ended; or the oldest, which will have been one of the zero
 * page: such a copy ends with no removal.
 */
static struct cow_note *note_begun(struct cow_cpu *cpu)
{
	struct cow_note *note = cpu->copies, *each;

	for (each = cpu->copies; each < cpu->copies + COPIES; each++) {
		if (each->task == current) {
			note = each;
			break;
		}
		if (note->page && (!each->page || (s32)(each->turn - note->turn) < 0))
			note = each;
	}
	if (COPIES > 1)
		note->turn = cpu->turn++;
	return note;
}

/* What the current task has begun on this CPU. */
static struct cow_note *note_find(struct cow_cpu *cpu)
{
	struct cow_note *each;

	for (each = cpu->copies; each < cpu->copies + COPIES; each++)
		if (each->task == current && each->page)
			return each;
	return NULL;
}

/**
 * mtag_cow_begin() - a copy is mapped; the original, which tells the owner, is removed next
 * @s:		space
 * @page:	the copy
 * @addr:	where it is mapped
 * @tag:	whose it is until then
 *
 * Context: page-table lock.
 */
void mtag_cow_begin(struct mtag_space *s, struct page *page, unsigned long addr, u32 tag)
{
	struct cow_note *note;

	mtag_owner_set(page, tag);
	mtag_charge_replacing(s, mtag_owner_get(page), addr);
	mtag_account_touch(s, tag, 1);
	mtag_cpu_hold();
	note = note_begun(this_cpu_ptr(&cow_cpu));
	note->task = current;
	note->page = page;
	note->space = s;
	note->addr = addr;
	note->tag = tag;
	mtag_cpu_release();
}

/*
 * The copy of what is being removed from @addr by @caller, if known; where it
 * is and whose.
 */
static struct page *copy_of(struct mtag_space *s, struct mm_struct *mm, unsigned long *addr,
			    u32 *tag, enum mtag_caller caller)
{
	/* Uprobes also remove without a copy: what was noted then is an older one's. */
	bool noted = caller == MTAG_BY_COPY;
	struct page *copy = NULL;
	struct cow_note *note;

	mtag_cpu_hold();
	note = note_find(this_cpu_ptr(&cow_cpu));
	/* Copying the zero page ends with no removal: it may be another page's. */
	if (noted && note && note->space == s && (*addr == MTAG_NO_ADDR || *addr == note->addr)) {
		copy = (struct page *)note->page;
		*addr = note->addr;
		*tag = note->tag;
		note->page = NULL;
	}
	mtag_cpu_release();
	/* Or too many others have run here meanwhile: the page table knows, but of KSM. */
	if ((!noted || IS_ENABLED(CONFIG_PREEMPT_RT)) && !copy && *addr != MTAG_NO_ADDR) {
		copy = mtag_visit_page(mm, *addr);
		if (copy)
			*tag = mtag_owner_get(copy);
	}
	return copy;
}

/**
 * mtag_cow_end() - the original is removed: the copy belongs to whom it belonged
 * @s:		space of @mm
 * @mm:		where both are mapped
 * @tag:	owner of the original
 * @addr:	of both, or MTAG_NO_ADDR
 * @caller:	who removes it
 *
 * What was merged with another program's page belongs to its writer, like the copy of a file's
 * page.
 * Context: page-table lock.
 */
void mtag_cow_end(struct mtag_space *s, struct mm_struct *mm, u32 tag, unsigned long addr,
		  enum mtag_caller caller)
{
	u32 copy_tag;
	struct page *copy = copy_of(s, mm, &addr, &copy_tag, caller);

	if (!copy || tag == MTAG_ID_KSM)
		return;
	mtag_charge(s, copy_tag, MTAG_ANON, -1, addr);
	mtag_account_touch(s, copy_tag, -1);
	mtag_owner_set(copy, tag);
	/* The original is released next. */
	mtag_charge_replacing(s, tag, addr);
}
