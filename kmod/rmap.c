// SPDX-License-Identifier: GPL-2.0
/*
 * The hot path: a page comes, a page goes. What is not an ordinary first touch
 * or unmapping of a small anonymous page goes on to follow.c.
 *
 * Called at the entry of the kernel's rmap functions, under the page-table
 * lock of the mapping. Allocates, locks and prints nothing.
 */
#include <linux/nospec.h>
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
	return acc->hot[tag];
}

/* The callers that bring and take huge pages at a fault and by munmap; 0 until one was seen. */
static unsigned long huge_fault_ip __read_mostly, huge_zap_ip __read_mostly;

/* A huge page is touched by the running thread. */
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
 * What mtag_rmap_new_anon() does not do itself. Out of line, and with @fregs
 * where it is there: so that one saves and moves no register on its short way.
 */
static noinline __noclone notrace void
new_other(struct mtag_space *s, unsigned long parent_ip, unsigned long addr,
	  struct ftrace_regs *fregs)
{
	struct page *page = (struct page *)mtag_arg0(fregs);

	if (parent_ip == READ_ONCE(huge_fault_ip) && !s->slow) {
		new_huge(s, page);
		return;
	}
	if (!READ_ONCE(huge_fault_ip) && PageHead(page) &&
	    mtag_hook_caller(parent_ip) == MTAG_BY_FAULT)
		WRITE_ONCE(huge_fault_ip, parent_ip);
	mtag_follow_new(s, page, (struct vm_area_struct *)mtag_arg1(fregs), addr, parent_ip);
}

/* Likewise of mtag_rmap_remove(). */
static noinline __noclone notrace void
remove_other(struct mtag_space *s, unsigned long parent_ip, bool compound,
	     struct ftrace_regs *fregs)
{
	struct page *page = (struct page *)mtag_arg0(fregs);
	u32 tag;

	if (compound && PageAnon(page)) {
		if (parent_ip == READ_ONCE(huge_zap_ip) && !s->slow) {
			tag = mtag_owner_get_huge(page);
			if (likely(tag != MTAG_MIXED)) {
				mtag_account_add(s, tag, MTAG_ANON, -HPAGE_PMD_NR);
				return;
			}
		} else if (!READ_ONCE(huge_zap_ip) &&
			   mtag_hook_caller(parent_ip) == MTAG_BY_ZAP) {
			WRITE_ONCE(huge_zap_ip, parent_ip);
		}
	}
	mtag_follow_remove(s, page, (struct vm_area_struct *)mtag_arg1(fregs),
			   compound ? HPAGE_PMD_NR : 1, parent_ip);
}

/*
 * page_add_new_anon_rmap(page, vma, address)
 *
 * The caller at mtag_fault_ip brings small pages only.
 */
notrace void mtag_rmap_new_anon(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);
	const struct mtag_accounts *acc;
	struct mtag_hot __percpu *h;
	struct mtag_section *section;
	unsigned long pfn;
	u32 tag;

	if (likely(!s))
		return;
	if (unlikely(parent_ip != mtag_fault_ip || s->slow ||
		     this_cpu_read(mtag_cpu.task) != current ||
		     this_cpu_read(mtag_cpu.space) != s))
		goto other;
	tag = READ_ONCE(*this_cpu_read(mtag_cpu.word));
	acc = rcu_dereference_raw(s->accounts);
	/* It only grows: below an old value there is an account too. */
	if (unlikely(tag >= data_race(acc->nr_tags)))
		goto other;
	tag = array_index_nospec(tag, acc->nr_tags);
	pfn = page_to_pfn((struct page *)mtag_arg0(fregs));
	section = mtag_owner_section(pfn);
	if (unlikely(!section))
		goto other;
	WRITE_ONCE(*mtag_section_tag(section, pfn), tag);
	h = hot(acc, tag);
	this_cpu_inc(h->touched);
	this_cpu_inc(h->nr[MTAG_ANON]);
	if (unlikely(!(this_cpu_read(h->nr[MTAG_ANON]) % MTAG_PEAK_BATCH)))
		mtag_account_peak(s, tag);
	return;
other:
	new_other(s, parent_ip, mtag_arg2(fregs), fregs);
}

/*
 * page_remove_rmap(page, vma, compound)
 *
 * The caller at mtag_zap_ip takes small pages only; anonymous and not merged is
 * what the page itself must say.
 */
notrace void mtag_rmap_remove(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg1(fregs);
	struct mtag_space *s = mtag_space_find(vma->vm_mm);
	const struct mtag_accounts *acc;
	struct mtag_section *section;
	struct page *page;
	unsigned long pfn;
	u32 tag, flags;

	if (likely(!s))
		return;
	if (unlikely(parent_ip != mtag_zap_ip))
		goto other;
	page = (struct page *)mtag_arg0(fregs);
	/* One branch for three questions; the mapping of a tail page may be anything. */
	flags = (unsigned long)page->mapping & PAGE_MAPPING_FLAGS;
	if (unlikely((flags ^ PAGE_MAPPING_ANON) | s->slow | (READ_ONCE(page->compound_head) & 1)))
		goto other;
	acc = rcu_dereference_raw(s->accounts);
	pfn = page_to_pfn(page);
	section = mtag_owner_section(pfn);
	if (unlikely(!section))
		goto other;
	tag = READ_ONCE(*mtag_section_tag(section, pfn));
	/* Likewise. */
	if (unlikely(tag >= data_race(acc->nr_tags)))
		goto other;
	this_cpu_dec(hot(acc, tag)->nr[MTAG_ANON]);
	return;
other:
	remove_other(s, parent_ip, (u8)mtag_arg2(fregs), fregs);
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
 * @s:		space
 * @page:	head, tail or single; anonymous
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
 * mtag_owner_valid() - as mtag_owner_of(), but never an id that the tree has not got
 * @s:		space
 * @page:	the frame
 *
 * A frame may have the owner of an earlier life, by way of the swap cache: it
 * is given up, for nobody has it charged.
 * Context: as mtag_owner_of().
 * Return: tag
 */
u32 mtag_owner_valid(struct mtag_space *s, const struct page *page)
{
	u32 tag = mtag_owner_of(s, page);

	if (likely(tag < READ_ONCE(s->tree->nr_tags)))
		return tag;
	mtag_owner_set(page, MTAG_ID_UNTAGGED);
	return MTAG_ID_UNTAGGED;
}

/**
 * mtag_charge() - @pages more (or fewer) of @kind for @tag in @s
 * @s:		space
 * @tag:	id
 * @kind:	what they are
 * @pages:	may be negative
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
