// SPDX-License-Identifier: GPL-2.0
/*
 * The hot path: a page comes, a page goes. What is not an ordinary first touch
 * or unmapping of a small anonymous page goes on to follow.c.
 *
 * Called at the entry of the kernel's rmap functions, under the page-table
 * lock of the mapping. Allocates, locks and prints nothing.
 */
#include <linux/page-flags.h>
#include <linux/rmap.h>
#include "compat/compat.h"
#include "owner.h"
#include "rmap.h"
#include "walk.h"

DEFINE_PER_CPU(struct mtag_cpu, mtag_cpu);

/* The accounts' per-CPU counters of @tag, which has an account. */
static __always_inline struct mtag_hot __percpu *
hot(const struct mtag_accounts *acc, u32 tag)
{
	return acc->hot[tag >> MTAG_CHUNK_SHIFT] + (tag & (MTAG_CHUNK_TAGS - 1));
}

/* page_add_new_anon_rmap(page, vma, address) */
void mtag_rmap_new_anon(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	struct page *page = (struct page *)mtag_arg0(fregs);
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);
	const struct mtag_accounts *acc;
	u16 *owner;
	u32 tag;

	if (likely(!s))
		return;
	if (unlikely(parent_ip != mtag_fault_ip || s->slow || PageHead(page)))
		goto slow;
	if (unlikely(this_cpu_read(mtag_cpu.task) != current ||
		     this_cpu_read(mtag_cpu.space) != s))
		goto slow;
	tag = READ_ONCE(*this_cpu_read(mtag_cpu.word));
	acc = rcu_dereference_raw(s->accounts);
	owner = mtag_owner_slot(page_to_pfn(page));
	if (unlikely(tag >= READ_ONCE(acc->nr_tags) || !owner))
		goto slow;
	WRITE_ONCE(*owner, tag);
	this_cpu_inc(hot(acc, tag)->touched);
	if (unlikely(!(this_cpu_inc_return(hot(acc, tag)->nr[MTAG_ANON]) % MTAG_PEAK_BATCH)))
		mtag_account_peak(s, tag);
	return;
slow:
	mtag_follow_new(s, page, vma, mtag_arg2(fregs), parent_ip);
}

/* page_remove_rmap(page, vma, compound) */
void mtag_rmap_remove(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		      struct ftrace_regs *fregs)
{
	struct page *page = (struct page *)mtag_arg0(fregs);
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);
	bool compound = (u8)mtag_arg2(fregs);
	const struct mtag_accounts *acc;
	u16 *owner;

	if (likely(!s))
		return;
	/* Small, anonymous, not merged, not part of a huge page. */
	if (unlikely(parent_ip != mtag_zap_ip || s->slow || compound ||
		     ((unsigned long)READ_ONCE(page->mapping) & PAGE_MAPPING_FLAGS) !=
		     PAGE_MAPPING_ANON))
		goto slow;
	acc = rcu_dereference_raw(s->accounts);
	owner = mtag_owner_slot(page_to_pfn(page));
	if (unlikely(!owner || *owner >= READ_ONCE(acc->nr_tags)))
		goto slow;
	this_cpu_dec(hot(acc, *owner)->nr[MTAG_ANON]);
	return;
slow:
	mtag_follow_remove(s, page, vma, compound ? HPAGE_PMD_NR : 1, parent_ip);
}

/* page_add_anon_rmap(page, vma, address, flags): contents that had an owner come back */
void mtag_rmap_add_anon(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (s)
		mtag_follow_add(s, (struct page *)mtag_arg0(fregs), vma, mtag_arg2(fregs),
				(mtag_arg3(fregs) & (__force int)RMAP_COMPOUND) ? HPAGE_PMD_NR : 1,
				parent_ip);
}

/* page_add_file_rmap(page, vma, compound) */
void mtag_rmap_add_file(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);

	if (s && !(s->slow & MTAG_SLOW_PARKED))
		mtag_range_charge(s, vma, (struct page *)mtag_arg0(fregs),
				  (u8)mtag_arg2(fregs) ? HPAGE_PMD_NR : 1, 1);
}

/**
 * mtag_owner_of() - the tag that @page is charged to in @s, if it maps it
 *
 * Context: page-table lock of a mapping, or @page is locked.
 */
u32 mtag_owner_of(struct mtag_space *s, const struct page *page)
{
	u32 tag = mtag_owner_get(page);

	if (tag && PageKsm((struct page *)page) && mtag_ksm_foreign(s, page))
		return MTAG_ID_KSM;
	return tag;
}

/**
 * mtag_charge() - @pages more (or fewer) of @kind for @tag in @s
 * @addr:	where, or MTAG_NO_ADDR: a walk counts what it has not come to yet itself
 *
 * Context: page-table lock of the mapping.
 */
void mtag_charge(struct mtag_space *s, u32 tag, enum mtag_kind kind, int pages,
		 unsigned long addr)
{
	if (unlikely(s->slow & (MTAG_SLOW_WALK | MTAG_SLOW_FORK)))
		mtag_walk_event(s, tag, kind, pages, addr);
	else
		mtag_account_add(s, tag, kind, pages);
}
