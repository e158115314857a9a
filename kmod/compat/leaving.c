// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that migration takes away: what the rmap function that unmaps them does not tell.
 *
 * That is the address of a page that KSM has merged. And it is the whole event where the compiler
 * has inlined that function (PREEMPT_RT since 6.16). The hook at the enclosing function's
 * entry knows mapping and address, but not whether a page will go. The rmap function, or else a
 * tracepoint further on, knows that. All run in the same task, which connects them.
 */
#include "adapt.h"
#include "compat.h"
#include <linux/mm_inline.h>
#include <linux/page-flags.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "../hook.h"
#include "../leaver.h"
#include "../migrate.h"
#include "../mtag.h"
#include "../rmap.h"
#include "../space.h"

bool mtag_leaving_unseen __ro_after_init;

/* Not in line, so that most pages, which need none of this, cost little. */
static noinline void leaving(struct folio *folio, struct vm_area_struct *vma, unsigned long addr,
			     unsigned long ip)
{
	struct mtag_space *s;

	rcu_read_lock();
	s = mtag_space_find(vma->vm_mm);
	/* No caller's return address is the first one of a function. */
	if (s && !mtag_leaver_enter(vma, addr, ip + 1) && mtag_leaving_unseen)
		mtag_space_mark_all_dirty();
	if (s && mtag_leaving_unseen)
		mtag_migrate_ready();
	/* What goes from here must not be taken for what was to go from another mapping. */
	if (!s && mtag_leaving_unseen)
		mtag_leaver_leave();
	/* Such a page goes without passing the tracepoint. */
	if (s && mtag_leaving_unseen && folio_test_hwpoison(folio))
		mtag_space_mark_dirty(s);
	rcu_read_unlock();
}

/* try_to_migrate_one(folio, vma, address, arg) */
MTAG_HOOK_FUNC(mtag_leaving_begin)
{
	struct folio *folio = (struct folio *)mtag_arg0(fregs);

	if (unlikely(mtag_leaving_unseen || folio_test_ksm(folio)))
		leaving(folio, (struct vm_area_struct *)mtag_arg1(fregs), mtag_arg2(fregs), ip);
}

#ifdef MTAG_LEAVING
static struct tracepoint *seen __ro_after_init;

/* The tracepoint set_migration_pte, under the page-table lock; the page is unmapped next. */
static void note_taken(void *data, unsigned long addr, unsigned long pte, int order)
{
	struct page *page = mtag_pte_migrating(__pte(pte));
	struct mtag_leaver leaver;

	if (!page || !mtag_leaver_get(&leaver))
		return;
	mtag_rmap_gone(leaver.vma, page, 1, leaver.ip);
	mtag_leaver_leave();
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
