// SPDX-License-Identifier: GPL-2.0
/*
 * Sees the pages that migration takes away where the compiler has inlined the rmap function that
 * unmaps them (7.2 and 7.3 with PREEMPT_RT).
 *
 * The hook at the enclosing function's entry knows the mapping, but not whether a page will go. A
 * tracepoint further on knows the page, but not the mapping. Both run in the same task, which
 * connects them.
 */
#include "adapt.h"
#include "compat.h"

#ifdef MTAG_LEAVING
#include <linux/mm_inline.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "../hook.h"
#include "../mtag.h"
#include "../rmap.h"
#include "../space.h"

/* More tasks than ever migrate pages at once. */
#define LEAVERS 64

/*
 * A task that takes a page away from a mapping. A task that found no page keeps its place until it
 * comes again or the place is needed. By then the hooks may have been removed and the mapping
 * freed, so a place is valid for one epoch only.
 */
struct leaver {
	const struct task_struct *task;		/* only compared; NULL: the place is free */
	struct vm_area_struct *vma;
	unsigned long ip;			/* in the hooked function, as of a caller of rmap */
	unsigned int turn;
	unsigned int epoch;
};

static struct leaver leavers[LEAVERS];
static unsigned int turn;
static DEFINE_RAW_SPINLOCK(lock);

bool mtag_leaving_unseen __ro_after_init;
static struct tracepoint *seen __ro_after_init;

/* The task's place; or a free one, or the oldest. Context: lock. */
static struct leaver *place_of(const struct task_struct *task)
{
	struct leaver *place = leavers, *each;

	lockdep_assert_held(&lock);
	for (each = leavers; each < leavers + LEAVERS; each++) {
		if (each->task == task)
			return each;
		if (place->task && (!each->task || (int)(each->turn - place->turn) < 0))
			place = each;
	}
	return place;
}

/* Return: false if another task has lost its place. */
static bool enter_leaver(struct vm_area_struct *vma, unsigned long ip)
{
	struct leaver *place;
	bool free;

	raw_spin_lock(&lock);
	place = place_of(current);
	free = !place->task || place->task == current;
	*place = (struct leaver){ current, vma, ip, turn++, mtag_hook_epoch() };
	raw_spin_unlock(&lock);
	return free;
}

/* Return: false if the current task has no place, or has one of an earlier epoch. */
static bool leave_place(struct leaver *left)
{
	struct leaver *place;

	raw_spin_lock(&lock);
	place = place_of(current);
	*left = *place;
	if (place->task == current)
		place->task = NULL;
	raw_spin_unlock(&lock);
	/* An even epoch is when hooks go out: they may still run, but are no longer in. */
	return left->task == current && left->epoch & 1 && left->epoch == mtag_hook_epoch();
}

/* try_to_migrate_one(folio, vma, address, arg) */
MTAG_HOOK_FUNC(mtag_leaving_begin)
{
	const struct folio *folio = (struct folio *)mtag_arg0(fregs);
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct leaver ignored;
	struct mtag_space *s;

	if (!mtag_leaving_unseen)
		return;
	rcu_read_lock();
	s = mtag_space_find(vma->vm_mm);
	/* No caller's return address is the first one of a function. */
	if (!s)
		leave_place(&ignored);
	else if (!enter_leaver(vma, ip + 1))
		mtag_space_dirty_all();
	/* Such a page goes without passing the tracepoint. */
	if (s && folio_test_hwpoison(folio))
		mtag_space_dirty(s);
	rcu_read_unlock();
}

/* The tracepoint set_migration_pte, under the page-table lock; the page is unmapped next. */
static void note_taken(void *data, unsigned long addr, unsigned long pte, int order)
{
	struct page *page = mtag_pte_migrating(__pte(pte));
	struct leaver left;

	if (page && leave_place(&left))
		mtag_rmap_gone(left.vma, page, 1, left.ip);
}

static void find_tracepoint(struct tracepoint *tp, void *name)
{
	if (!strcmp(tp->name, name))
		seen = tp;
}

/**
 * mtag_leaving_init() - see pages that migration takes away, if the hook on rmap does not
 *
 * Context: module load. May sleep.
 * Return: 0; -ENOENT if this kernel has no such tracepoint, which is logged; -ENOMEM.
 */
int mtag_leaving_init(void)
{
	if (!mtag_leaving_unseen)
		return 0;
	for_each_kernel_tracepoint(find_tracepoint, "set_migration_pte");
	if (seen)
		return tracepoint_probe_register(seen, note_taken, NULL);
	pr_err("this kernel has no tracepoint set_migration_pte, and has inlined what is hooked\n");
	return -ENOENT;
}

/* Context: no hook is installed. May sleep. */
void mtag_leaving_exit(void)
{
	if (!seen)
		return;
	tracepoint_probe_unregister(seen, note_taken, NULL);
	tracepoint_synchronize_unregister();
}

#else

/* The hook on rmap sees all pages that migration takes away. Return: 0. */
int mtag_leaving_init(void)
{
	return 0;
}

/* Nothing to undo. */
void mtag_leaving_exit(void)
{
}

#endif
