// SPDX-License-Identifier: GPL-2.0
/*
 * Remembers, for a task, where it is about to take a page away for migration.
 *
 * The kernel's function for that knows mapping and address, but not yet whether there is a page;
 * what it calls for the page does not know all of that (compat/leaving.c, follow.c).
 */
#include <linux/sched.h>
#include <linux/spinlock.h>
#include "hook.h"
#include "leaver.h"

/* More tasks than ever migrate pages at once. */
#define LEAVERS 64

static struct mtag_leaver leavers[LEAVERS];
static unsigned int turn;

/* Protects leavers and turn. */
static DEFINE_RAW_SPINLOCK(leavers_lock);

/* The task's place; or a free one, or the oldest. Context: leavers_lock. */
static struct mtag_leaver *place_of(const struct task_struct *task)
{
	struct mtag_leaver *place = leavers, *each;

	lockdep_assert_held(&leavers_lock);
	for (each = leavers; each < leavers + LEAVERS; each++) {
		if (each->task == task)
			return each;
		if (place->task && (!each->task || (int)(each->turn - place->turn) < 0))
			place = each;
	}
	return place;
}

/**
 * mtag_leaver_enter() - the current task is about to take a page away, if there is one
 * @vma:	mapping
 * @addr:	address in it
 * @ip:		in the function that does it, as of a caller of rmap
 *
 * Context: any but interrupts.
 * Return: false if another task has lost its place to this one.
 */
bool mtag_leaver_enter(struct vm_area_struct *vma, unsigned long addr, unsigned long ip)
{
	struct mtag_leaver *place;
	bool free;

	raw_spin_lock(&leavers_lock);
	place = place_of(current);
	free = !place->task || place->task == current;
	*place = (struct mtag_leaver){ current, vma, addr, ip, turn++, mtag_hook_epoch() };
	raw_spin_unlock(&leavers_lock);
	return free;
}

/**
 * mtag_leaver_get() - where the current task takes a page away
 * @leaver:	filled with a copy of its place
 *
 * Context: any but interrupts.
 * Return: false if it has none, or has one of an earlier epoch.
 */
bool mtag_leaver_get(struct mtag_leaver *leaver)
{
	raw_spin_lock(&leavers_lock);
	*leaver = *place_of(current);
	raw_spin_unlock(&leavers_lock);
	/* An even epoch is when hooks go out: they may still run, but are no longer in. */
	return leaver->task == current && leaver->epoch & 1 && leaver->epoch == mtag_hook_epoch();
}

/**
 * mtag_leaver_leave() - the current task has taken the page away, or takes none
 *
 * Context: any but interrupts.
 */
void mtag_leaver_leave(void)
{
	struct mtag_leaver *place;

	raw_spin_lock(&leavers_lock);
	place = place_of(current);
	if (place->task == current)
		place->task = NULL;
	raw_spin_unlock(&leavers_lock);
}
