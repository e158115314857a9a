// SPDX-License-Identifier: GPL-2.0
/*
 * Page events: those that hot.h does not handle, huge pages among them, go on to follow.c.
 *
 * Called at the entry of the kernel's rmap functions, under the page-table
 * lock of the mapping. The space that the hot path has found may no longer be
 * found here: its process has just been untracked, or ends, and there is
 * nothing to follow.
 */
#include <linux/page-flags.h>
#include <linux/rmap.h>
#include "account.h"
#include "accounts.h"
#include "answer.h"
#include "caller.h"
#include "collapse.h"
#include "compat/compat.h"
#include "compat/percpu.h"
#include "follow.h"
#include "hooked.h"
#include "hot.h"
#include "hot_copy.h"
#include "hot_file.h"
#include "leaf.h"
#include "mtag.h"
#include "owner.h"
#include "range.h"
#include "rmap.h"
#include "space.h"
#include "state.h"
#include "stock.h"
#include "take.h"
#include "thread.h"
#include "word.h"

/* The running thread touches a new huge page. */
static void new_huge(struct mtag_space *s, struct page *head)
{
	u32 tag = mtag_thread_tag(s);

	mtag_owner_set_huge(head, tag);
	mtag_account_come(s, tag, MTAG_ANON, HPAGE_PMD_NR);
}

/* Has this CPU cache the account of @tag, if it is one to be cached. Context: mtag_cpu_hold(). */
static bool account_cached(struct mtag_space *s, u32 tag)
{
	if (tag >= mtag_accounts_nr(rcu_dereference_raw(s->accounts)) || tag == MTAG_ID_KSM)
		return false;
	mtag_account_enter(s, tag);
	return true;
}

/*
 * A new small page is only in need of a stack, or of an account that this CPU has cached. Return:
 * false if nothing is done.
 */
static bool new_ordinary(struct mtag_space *s, struct page *page, const struct mm_struct *mm)
{
	enum mtag_left left = MTAG_LEFT_ALL;
	u32 tag;

	mtag_cpu_hold();
	/* Without stacks the hot path has tried already. */
	if (mtag_space_stacks(s))
		left = mtag_hot_new_small(s, page, &tag);
	if (left == MTAG_LEFT_ALL && this_cpu_read(mtag_cpu.task) == current &&
	    this_cpu_read(mtag_cpu.space) == s &&
	    account_cached(s, mtag_word_read(this_cpu_read(mtag_cpu.word))))
		left = mtag_hot_new_small(s, page, &tag);
	if (left == MTAG_LEFT_FULL)
		mtag_account_full(s, tag, 0);
	mtag_cpu_release();
	if (left == MTAG_LEFT_ALL)
		return false;
	/* Not s->slow, in which other bits may be set by now. */
	if (mtag_space_stacks(s))
		mtag_leaf_set(page, 1, mtag_take(s, mm, tag, 1));
	return true;
}

/* A new anonymous folio is neither small nor ordinary. */
static void new_unusual(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			unsigned long addr, unsigned long parent_ip)
{
	int nr = compound_nr(page);
	enum mtag_caller caller;

	if (parent_ip == READ_ONCE(mtag_huge_fault_ip) && !s->slow && nr == HPAGE_PMD_NR &&
	    !mtag_collapsing(vma->vm_mm)) {
		new_huge(s, page);
		return;
	}
	if (!READ_ONCE(mtag_huge_fault_ip) && nr == HPAGE_PMD_NR) {
		caller = mtag_caller_of(parent_ip);
		if (caller == MTAG_BY_FAULT || caller == MTAG_BY_MAP)
			mtag_caller_learn(&mtag_huge_fault_ip, parent_ip);
	}
	mtag_follow_new(s, page, nr, vma, addr, parent_ip);
}

/**
 * mtag_rmap_new_other() - a new anonymous folio that the hot path does not handle
 * @a0:		arguments of the hooked function …
 * @a1:		…
 * @a2:		…
 * @a3:		…
 * @parent_ip:	its caller
 *
 * Context: page-table lock of the mapping.
 */
void __noendbr mtag_rmap_new_other(unsigned long a0, unsigned long a1, unsigned long a2,
				   unsigned long a3, unsigned long parent_ip)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct vm_area_struct *vma = mtag_new_vma(&args);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (unlikely(!s))
		return;
	if (!(s->slow & ~MTAG_SLOW_STACKS) && parent_ip == mtag_fault_ip &&
	    new_ordinary(s, mtag_new_page(&args), vma->vm_mm))
		return;
	new_unusual(s, mtag_new_page(&args), vma, mtag_new_addr(&args), parent_ip);
}

/*
 * Has this CPU at hand what the hot path needs for pages of a file in @vma, if any event has found
 * it. Context: mtag_cpu_hold().
 */
static bool vma_recalled(struct mtag_space *s, const struct vm_area_struct *vma)
{
	return mtag_range_recall(s, vma) && account_cached(s, this_cpu_read(mtag_answer.tag));
}

/*
 * Pages are unmapped, probably of one file: by the hot path, perhaps with the tag that another CPU
 * has found. Return: false if nothing is done.
 */
static __always_inline bool pages_dropped(struct mtag_space *s, const struct mtag_args *args,
					  unsigned long parent_ip, bool recall)
{
	enum mtag_left left = MTAG_LEFT_ALL;

	mtag_cpu_hold();
	if (!recall || vma_recalled(s, mtag_ptes_vma(args)))
		left = mtag_hot_dropped(s, args, parent_ip);
	if (left == MTAG_LEFT_FULL)
		mtag_account_full(s, this_cpu_read(mtag_answer.tag), 0);
	mtag_cpu_release();
	return left != MTAG_LEFT_ALL;
}

/* A small page only needs an account that this CPU has cached. Return: as pages_dropped(). */
static bool gone_ordinary(struct mtag_space *s, const struct page *page)
{
	enum mtag_left left = MTAG_LEFT_ALL;
	u32 tag = mtag_owner_get(page);

	mtag_cpu_hold();
	if (account_cached(s, tag))
		left = mtag_hot_gone_small(s, page);
	if (left == MTAG_LEFT_FULL)
		mtag_account_full(s, tag, 0);
	mtag_cpu_release();
	return left != MTAG_LEFT_ALL;
}

/* Accounts for pages that are unmapped, where the hot path does not. */
static notrace void remove_slowly(struct mtag_space *s, struct vm_area_struct *vma,
				  unsigned long parent_ip, struct page *page, int nr)
{
	u32 tag;

	if (nr == HPAGE_PMD_NR && PageAnon(page)) {
		if (parent_ip == READ_ONCE(mtag_huge_zap_ip) && !s->slow) {
			tag = mtag_owner_get_huge(page);
			if (likely(tag != MTAG_MIXED)) {
				mtag_account_add(s, tag, MTAG_ANON, -HPAGE_PMD_NR);
				return;
			}
		} else if (!READ_ONCE(mtag_huge_zap_ip) &&
			   mtag_caller_of(parent_ip) == MTAG_BY_ZAP) {
			mtag_caller_learn(&mtag_huge_zap_ip, parent_ip);
		}
	}
	mtag_follow_remove(s, page, vma, nr, parent_ip);
}

/* As mtag_rmap_new_other(), for pages that are unmapped. */
void __noendbr mtag_rmap_gone_other(unsigned long a0, unsigned long a1, unsigned long a2,
				    unsigned long a3, unsigned long parent_ip)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct vm_area_struct *vma = mtag_ptes_vma(&args);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (unlikely(!s))
		return;
	if (!PageAnon(mtag_ptes_page(&args)) && pages_dropped(s, &args, parent_ip, true))
		return;
	/* Stacks make no difference to a page that goes. */
	if (!(s->slow & ~MTAG_SLOW_STACKS) && parent_ip == mtag_zap_ip &&
	    !mtag_gone_special(&args) && gone_ordinary(s, mtag_ptes_page(&args)))
		return;
	remove_slowly(s, vma, parent_ip, mtag_ptes_page(&args), mtag_ptes_nr(&args));
}

/* As mtag_rmap_new_other(), where a page is copied for a writer. */
void __noendbr mtag_rmap_copy(unsigned long a0, unsigned long a1, unsigned long a2,
			      unsigned long a3, unsigned long parent_ip)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct mtag_space *s = mtag_space_find(mtag_new_vma(&args)->vm_mm);
	enum mtag_left left;
	u32 tag;

	if (unlikely(!s))
		return;
	left = mtag_hot_copy(s, &args, &tag);
	if (unlikely(left == MTAG_LEFT_FULL))
		mtag_account_full(s, tag, 1);
	else if (unlikely(left == MTAG_LEFT_ALL))
		mtag_rmap_new_other(a0, a1, a2, a3, parent_ip);
}

/* As mtag_rmap_gone_other(), where a page has been copied for a writer. */
void __noendbr mtag_rmap_copied(unsigned long a0, unsigned long a1, unsigned long a2,
				unsigned long a3, unsigned long parent_ip)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct mtag_space *s = mtag_space_find(mtag_ptes_vma(&args)->vm_mm);

	if (likely(s) && unlikely(mtag_hot_copied(s, &args)))
		mtag_rmap_gone_other(a0, a1, a2, a3, parent_ip);
}

/* page_add_new_anon_rmap(), folio_add_new_anon_rmap() */
notrace void mtag_rmap_new_anon(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs)
{
	const struct mtag_args args = mtag_args(fregs);
	struct mtag_space *s = mtag_space_find(mtag_new_vma(&args)->vm_mm);
	enum mtag_left left;

	if (likely(!s))
		return;
	mtag_cpu_hold();
	left = mtag_hot_new(s, &args, parent_ip);
	if (unlikely(left == MTAG_LEFT_FULL))
		mtag_account_full(s, mtag_owner_get(mtag_new_page(&args)), 0);
	mtag_cpu_release();
	if (likely(left != MTAG_LEFT_ALL))
		return;
	if (parent_ip == READ_ONCE(mtag_copy_ip))
		mtag_rmap_copy(args.arg[0], args.arg[1], args.arg[2], args.arg[3], parent_ip);
	else
		mtag_rmap_new_other(args.arg[0], args.arg[1], args.arg[2], args.arg[3], parent_ip);
}

/* page_remove_rmap(), folio_remove_rmap_ptes() */
notrace void mtag_rmap_remove(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	const struct mtag_args args = mtag_args(fregs);
	struct mtag_space *s = mtag_space_find(mtag_ptes_vma(&args)->vm_mm);
	enum mtag_left left;

	if (likely(!s))
		return;
	mtag_cpu_hold();
	left = mtag_hot_gone(s, &args, parent_ip);
	if (unlikely(left == MTAG_LEFT_FULL))
		mtag_account_full(s, mtag_owner_get(mtag_ptes_page(&args)), 0);
	mtag_cpu_release();
	if (likely(left != MTAG_LEFT_ALL) || pages_dropped(s, &args, parent_ip, false))
		return;
	if (parent_ip == READ_ONCE(mtag_copied_ip))
		mtag_rmap_copied(args.arg[0], args.arg[1], args.arg[2], args.arg[3], parent_ip);
	else
		mtag_rmap_gone_other(args.arg[0], args.arg[1], args.arg[2], args.arg[3], parent_ip);
}

/*
 * As mtag_rmap_new_other(), when the folio is handled and only this CPU's count is full. Context:
 * as there; mtag_cpu_hold() since then, which this ends.
 */
void __noendbr mtag_rmap_new_full(unsigned long a0, unsigned long a1)
{
	const struct mtag_args args = { { a0, a1 } };
	struct mtag_space *s = mtag_space_find(mtag_new_vma(&args)->vm_mm);

	if (likely(s))
		mtag_account_full(s, mtag_owner_get(mtag_new_page(&args)), 0);
	mtag_cpu_release();
}

/* As mtag_rmap_new_full(), for an anonymous page that is unmapped. */
void __noendbr mtag_rmap_gone_full(unsigned long a0, unsigned long a1, unsigned long a2,
				   unsigned long a3)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct mtag_space *s = mtag_space_find(mtag_ptes_vma(&args)->vm_mm);

	if (likely(s))
		mtag_account_full(s, mtag_owner_get(mtag_ptes_page(&args)), 0);
	mtag_cpu_release();
}

/**
 * mtag_rmap_gone() - pages are unmapped by a function that is not hot
 * @vma:	mapping
 * @page:	first page
 * @nr:		number of pages
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void __noendbr mtag_rmap_gone(struct vm_area_struct *vma, struct page *page, int nr,
			      unsigned long parent_ip)
{
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (s)
		remove_slowly(s, vma, parent_ip, page, nr);
}

/**
 * mtag_rmap_added() - anonymous contents that had an owner come back, or are shared
 * @vma:	mapping
 * @page:	first page
 * @addr:	address of @page in @vma
 * @nr:		number of pages
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void __noendbr mtag_rmap_added(struct vm_area_struct *vma, struct page *page, unsigned long addr,
			       int nr, unsigned long parent_ip)
{
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (s)
		mtag_follow_add(s, page, vma, addr, nr, parent_ip);
}

/**
 * mtag_rmap_added_file() - pages of a file or of shared memory are mapped
 * @vma:	mapping
 * @page:	first page
 * @nr:		number of pages
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void __noendbr mtag_rmap_added_file(struct vm_area_struct *vma, struct page *page, int nr,
				    unsigned long parent_ip)
{
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (s)
		mtag_follow_file(s, page, vma, nr, parent_ip);
}

/**
 * mtag_rmap_file_other() - pages of a file are mapped that the hot path does not handle
 * @a0:		arguments of the hooked function …
 * @a1:		…
 * @a2:		…
 * @a3:		…
 * @parent_ip:	its caller
 *
 * Context: page-table lock of the mapping.
 */
void __noendbr mtag_rmap_file_other(unsigned long a0, unsigned long a1, unsigned long a2,
				    unsigned long a3, unsigned long parent_ip)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct vm_area_struct *vma = mtag_ptes_vma(&args);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);
	enum mtag_left left = MTAG_LEFT_ALL;

	if (unlikely(!s))
		return;
	mtag_cpu_hold();
	if (vma_recalled(s, vma))
		left = mtag_hot_mapped(s, &args, parent_ip);
	if (left == MTAG_LEFT_FULL)
		mtag_account_full(s, this_cpu_read(mtag_answer.tag), 0);
	mtag_cpu_release();
	if (left == MTAG_LEFT_ALL)
		mtag_follow_file(s, mtag_ptes_page(&args), vma, mtag_ptes_nr(&args), parent_ip);
}

/* As mtag_rmap_gone_full(), for pages of a file that come or go. */
void __noendbr mtag_rmap_file_full(unsigned long a0, unsigned long a1, unsigned long a2,
				   unsigned long a3)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct mtag_space *s = mtag_space_find(mtag_ptes_vma(&args)->vm_mm);

	/* The CPU has been held, so that the answer is the same as before. */
	if (likely(s))
		mtag_account_full(s, this_cpu_read(mtag_answer.tag), 0);
	mtag_cpu_release();
}

/* page_add_file_rmap(), folio_add_file_rmap_ptes() */
MTAG_HOOK_FUNC(mtag_rmap_add_file)
{
	const struct mtag_args args = mtag_args(fregs);
	struct mtag_space *s = mtag_space_find(mtag_ptes_vma(&args)->vm_mm);
	enum mtag_left left;

	if (likely(!s))
		return;
	mtag_cpu_hold();
	left = mtag_hot_mapped(s, &args, parent_ip);
	if (unlikely(left == MTAG_LEFT_FULL))
		mtag_account_full(s, this_cpu_read(mtag_answer.tag), 0);
	mtag_cpu_release();
	if (unlikely(left == MTAG_LEFT_ALL))
		mtag_rmap_file_other(args.arg[0], args.arg[1], args.arg[2], args.arg[3], parent_ip);
}
