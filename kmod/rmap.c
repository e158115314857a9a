// SPDX-License-Identifier: GPL-2.0
/*
 * The hot path of page events: ordinary first touch and unmapping of anonymous
 * pages, small and huge. All other events go on to follow.c.
 *
 * Called at the entry of the kernel's rmap functions, under the page-table
 * lock of the mapping. Allocates, locks and prints nothing.
 */
#include <linux/nospec.h>
#include <linux/page-flags.h>
#include <linux/rmap.h>
#include "account.h"
#include "caller.h"
#include "collapse.h"
#include "compat/compat.h"
#include "follow.h"
#include "leaf.h"
#include "mtag.h"
#include "owner.h"
#include "rmap.h"
#include "space.h"
#include "state.h"
#include "take.h"
#include "thread.h"

/* The per-CPU counters of @tag, which must have an account. */
static __always_inline struct mtag_hot __percpu *
hot(const struct mtag_accounts *acc, u32 tag)
{
	return acc->hot[tag];
}

/* The running thread touches a new huge page. */
static void new_huge(struct mtag_space *s, struct page *head)
{
	u32 tag = mtag_thread_tag(s);
	struct mtag_hot __percpu *h = hot(rcu_dereference_raw(s->accounts), tag);

	mtag_owner_set_huge(head, tag);
	this_cpu_add(h->touched, HPAGE_PMD_NR);
	this_cpu_add(h->nr[MTAG_ANON], HPAGE_PMD_NR);
	mtag_account_peak(s, tag);
}

/*
 * The running thread touches a new page, and the account of its tag is there. Return: false if it
 * is not that simple; then nothing is done. Context: mtag_cpu_hold().
 */
static __always_inline bool new_small(struct mtag_space *s, struct page *page)
{
	const struct mtag_accounts *acc;
	struct mtag_hot __percpu *h;
	struct mtag_section *section;
	unsigned long pfn;
	u32 tag;

	if (unlikely(mtag_new_is_large(page) || this_cpu_read(mtag_cpu.task) != current ||
		     this_cpu_read(mtag_cpu.space) != s))
		return false;
	tag = READ_ONCE(*this_cpu_read(mtag_cpu.word));
	acc = rcu_dereference_raw(s->accounts);
	/* nr_tags only grows, so a stale value is safe. No thread may have the tag [ksm]. */
	if (unlikely(tag >= data_race(acc->nr_tags) || tag == MTAG_ID_KSM))
		return false;
	tag = array_index_nospec(tag, acc->nr_tags);
	pfn = page_to_pfn(page);
	section = mtag_owner_section(pfn);
	if (unlikely(!section))
		return false;
	WRITE_ONCE(*mtag_section_tag(section, pfn), tag);
	h = hot(acc, tag);
	this_cpu_inc(h->touched);
	this_cpu_inc(h->nr[MTAG_ANON]);
	if (unlikely(!(this_cpu_read(h->nr[MTAG_ANON]) % MTAG_PEAK_BATCH)))
		mtag_account_peak(s, tag);
	return true;
}

/* Likewise of a process whose stacks are taken. */
static bool new_with_stack(struct mtag_space *s, struct page *page, const struct mm_struct *mm)
{
	bool done;

	mtag_cpu_hold();
	done = new_small(s, page);
	mtag_cpu_release();
	if (done)
		mtag_leaf_set(page, 1, mtag_take(s, mm));
	return done;
}

/*
 * The slow path of mtag_rmap_new_anon(). Out of line, and with @fregs in the same
 * register, so that the fast path saves and moves no register.
 */
static noinline __noclone notrace void
new_other(struct mtag_space *s, unsigned long parent_ip, unsigned long addr,
	  struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct page *page = (struct page *)mtag_arg0(fregs);
	enum mtag_caller caller;
	int nr;

	if (s->slow == MTAG_SLOW_STACKS && parent_ip == mtag_fault_ip &&
	    new_with_stack(s, page, vma->vm_mm))
		return;
	nr = compound_nr(page);
	if (parent_ip == READ_ONCE(mtag_huge_fault_ip) && !s->slow && nr == HPAGE_PMD_NR &&
	    !mtag_collapsing(vma->vm_mm)) {
		new_huge(s, page);
		return;
	}
	if (!READ_ONCE(mtag_huge_fault_ip) && nr == HPAGE_PMD_NR) {
		caller = mtag_caller_of(parent_ip);
		if (caller == MTAG_BY_FAULT || caller == MTAG_BY_MAP)
			WRITE_ONCE(mtag_huge_fault_ip, parent_ip);
	}
	mtag_follow_new(s, page, nr, vma, addr, parent_ip);
}

/* Unmap pages that the fast path does not handle. */
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
			WRITE_ONCE(mtag_huge_zap_ip, parent_ip);
		}
	}
	mtag_follow_remove(s, page, vma, nr, parent_ip);
}

/* A page that mtag_gone_special() says nothing of is gone. Return: false if nothing is done. */
static __always_inline bool gone_small(struct mtag_space *s, const struct page *page)
{
	const struct mtag_accounts *acc = rcu_dereference_raw(s->accounts);
	unsigned long pfn = page_to_pfn(page);
	struct mtag_section *section = mtag_owner_section(pfn);
	u32 tag;

	if (unlikely(!section))
		return false;
	tag = READ_ONCE(*mtag_section_tag(section, pfn));
	/* nr_tags only grows, so a stale value is safe. */
	if (unlikely(tag >= data_race(acc->nr_tags)))
		return false;
	this_cpu_dec(hot(acc, tag)->nr[MTAG_ANON]);
	return true;
}

/* The slow path of mtag_rmap_remove(), out of line for the same reason. */
static noinline __noclone notrace void
remove_other(struct mtag_space *s, unsigned long parent_ip, struct ftrace_regs *fregs)
{
	/* Stacks make no difference to a page that goes. */
	if (s->slow == MTAG_SLOW_STACKS && parent_ip == mtag_zap_ip && !mtag_gone_special(fregs) &&
	    gone_small(s, mtag_gone_page(fregs)))
		return;
	remove_slowly(s, mtag_gone_vma(fregs), parent_ip, mtag_gone_page(fregs),
		      mtag_gone_nr(fregs));
}

/*
 * A new anonymous folio, mapped nowhere yet: page_add_new_anon_rmap() or
 * folio_add_new_anon_rmap(), with the same arguments in the same places.
 */
notrace void mtag_rmap_new_anon(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (likely(!s))
		return;
	mtag_cpu_hold();
	if (unlikely(parent_ip != mtag_fault_ip || s->slow ||
		     !new_small(s, (struct page *)mtag_arg0(fregs))))
		goto other;
	mtag_cpu_release();
	return;
other:
	mtag_cpu_release();
	new_other(s, parent_ip, mtag_arg2(fregs), fregs);
}

/*
 * Pages are unmapped: page_remove_rmap() or folio_remove_rmap_ptes().
 *
 * The caller at mtag_zap_ip drops the contents. mtag_gone_special() tells from
 * the arguments and the page whether it is a single anonymous page, not merged.
 */
notrace void mtag_rmap_remove(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = mtag_gone_vma(fregs);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (likely(!s))
		return;
	if (unlikely(parent_ip != mtag_zap_ip))
		goto other;
	if (unlikely(mtag_gone_special(fregs) | s->slow))
		goto other;
	if (unlikely(!gone_small(s, mtag_gone_page(fregs))))
		goto other;
	return;
other:
	remove_other(s, parent_ip, fregs);
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
void mtag_rmap_gone(struct vm_area_struct *vma, struct page *page, int nr, unsigned long parent_ip)
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
void mtag_rmap_added(struct vm_area_struct *vma, struct page *page, unsigned long addr, int nr,
		     unsigned long parent_ip)
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
void mtag_rmap_added_file(struct vm_area_struct *vma, struct page *page, int nr,
			  unsigned long parent_ip)
{
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (s)
		mtag_follow_file(s, page, vma, nr, parent_ip);
}
