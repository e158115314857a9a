// SPDX-License-Identifier: GPL-2.0
/*
 * The owner follows the contents: copy-on-write, migration, KSM, uprobes, huge
 * pages, and whatever else is no plain first touch and no plain unmapping.
 */
#include <linux/hugetlb.h>
#include <linux/page-flags.h>
#include <linux/swap.h>
#include "compat/compat.h"
#include "owner.h"
#include "rmap.h"
#include "walk.h"

/**
 * mtag_follow_addr() - where @page, which is anonymous, is mapped in @vma
 * @vma:	mapping
 * @page:	head, tail or single
 *
 * Return: MTAG_NO_ADDR if that cannot be told (KSM).
 */
unsigned long mtag_follow_addr(const struct vm_area_struct *vma, const struct page *page)
{
	const struct page *head = compound_head(page);
	unsigned long addr;

	if (PageKsm((struct page *)page))
		return MTAG_NO_ADDR;
	addr = vma->vm_start +
	       ((head->index + (page - head) - vma->vm_pgoff) << PAGE_SHIFT);
	return addr >= vma->vm_start && addr < vma->vm_end ? addr : MTAG_NO_ADDR;
}

/* Who owns what is touched at @addr now: the range's tag, or the thread's. */
static u32 touch_tag(struct mtag_space *s, unsigned long addr)
{
	u32 tag;

	if ((s->slow & MTAG_SLOW_RANGE) && mtag_range_explicit(s, addr, &tag))
		return tag;
	return mtag_thread_tag(s);
}

static void own_and_charge(struct mtag_space *s, struct page *page, unsigned long addr, u32 tag)
{
	if (PageHead(page)) {
		mtag_owner_set_huge(page, tag);
		mtag_charge(s, tag, MTAG_ANON, HPAGE_PMD_NR, addr);
	} else {
		mtag_owner_set(page, tag);
		/* Memory that has no owners is charged as it will be released. */
		mtag_charge(s, mtag_owner_get(page), MTAG_ANON, 1, addr);
	}
}

/* The copy comes first; the original, which tells the owner, is removed next. */
static void copy_begin(struct mtag_space *s, struct page *page, unsigned long addr)
{
	struct mtag_cpu *cpu = this_cpu_ptr(&mtag_cpu);

	cpu->copy = page;
	cpu->copy_space = s;
	cpu->copy_addr = addr;
	cpu->copy_tag = touch_tag(s, addr);
	own_and_charge(s, page, addr, cpu->copy_tag);
	mtag_account_touch(s, cpu->copy_tag, 1);
}

/*
 * @tag owned the original. What was merged with another program's page belongs
 * to its writer, like the copy of a file's page.
 */
static void copy_end(struct mtag_space *s, bool anon, u32 tag, unsigned long addr)
{
	struct mtag_cpu *cpu = this_cpu_ptr(&mtag_cpu);

	/* Copying the zero page ends with no removal: it may be another page's. */
	if (addr != MTAG_NO_ADDR && addr != cpu->copy_addr)
		anon = false;
	if (anon && cpu->copy && cpu->copy_space == s && tag != MTAG_ID_KSM) {
		mtag_charge(s, cpu->copy_tag, MTAG_ANON, -1, cpu->copy_addr);
		mtag_account_touch(s, cpu->copy_tag, -1);
		mtag_owner_set(cpu->copy, tag);
		mtag_charge(s, tag, MTAG_ANON, 1, cpu->copy_addr);
	}
	cpu->copy = NULL;
}

/*
 * A fork copies a page that is pinned: the child's has the parent's owner. It
 * is counted with all that the child gets, when the fork ends.
 */
static void new_by_fork(struct mtag_space *s, struct page *page, unsigned long addr)
{
	struct page *original = mtag_walk_page(current->mm, addr);

	mtag_owner_set(page, original ? mtag_owner_of(s, original) : MTAG_ID_UNTAGGED);
}

/* A page that KSM had merged before it was swapped out is copied on its way in. */
static void new_by_swapin(struct mtag_space *s, struct page *page, struct mm_struct *mm,
			  unsigned long addr)
{
	own_and_charge(s, page, addr, mtag_swap_tag(mtag_walk_swap_entry(mm, addr)));
	mtag_swap_in(s, mm, addr);
}

static void new_by_touch(struct mtag_space *s, struct page *page, unsigned long addr)
{
	u32 tag = touch_tag(s, addr);

	own_and_charge(s, page, addr, tag);
	mtag_account_touch(s, tag, PageHead(page) ? HPAGE_PMD_NR : 1);
}

/**
 * mtag_follow_new() - an anonymous page that was mapped nowhere comes to @s
 * @s:		space
 * @page:	small, or the head of one mapped as a huge page
 * @vma:	where it is mapped
 * @addr:	in @vma
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_new(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
		     unsigned long addr, unsigned long parent_ip)
{
	enum mtag_caller caller = mtag_hook_caller(parent_ip);

	if (s->slow & MTAG_SLOW_PARKED) {
		/* Should it be tracked again, the page is untagged. */
		if (PageHead(page))
			mtag_owner_set_huge(page, MTAG_ID_UNTAGGED);
		else
			mtag_owner_set(page, MTAG_ID_UNTAGGED);
		return;
	}
	switch (caller) {
	case MTAG_BY_COPY:
	case MTAG_BY_REPLACE:
		copy_begin(s, page, addr);
		break;
	case MTAG_BY_FORK:
		new_by_fork(s, page, addr);
		break;
	case MTAG_BY_SWAPIN:
		new_by_swapin(s, page, vma->vm_mm, addr);
		break;
	case MTAG_BY_COLLAPSE:
		mtag_collapse_added(s, page, addr);
		break;
	case MTAG_BY_FAULT:
		if (!PageHead(page) && !READ_ONCE(mtag_fault_ip))
			WRITE_ONCE(mtag_fault_ip, parent_ip);
		new_by_touch(s, page, addr);
		break;
	case MTAG_BY_TOUCH:
		new_by_touch(s, page, addr);
		break;
	default:
		atomic64_inc(&mtag_stat.foreign);
		new_by_touch(s, page, addr);
	}
}

/* One charge for all frames, or one for each where owners differ. */
static void charge_owners(struct mtag_space *s, struct page *page, int nr, int sign,
			  unsigned long addr)
{
	u32 tag = nr > 1 ? mtag_owner_get_huge(page) : mtag_owner_valid(s, page);
	int i;

	if (nr == 1 || tag != MTAG_MIXED) {
		mtag_charge(s, tag, MTAG_ANON, sign * nr, addr);
		return;
	}
	for (i = 0; i < nr; i++)
		mtag_charge(s, mtag_owner_get(page + i), MTAG_ANON, sign,
			    addr == MTAG_NO_ADDR ? addr : addr + i * PAGE_SIZE);
}

/**
 * mtag_follow_add() - anonymous contents that have an owner are mapped in @s
 * @s:		space
 * @page:	the first of @nr
 * @vma:	where it is mapped
 * @addr:	of @page in @vma
 * @nr:		HPAGE_PMD_NR if mapped as a huge page, else 1
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_add(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
		     unsigned long addr, int nr, unsigned long parent_ip)
{
	enum mtag_caller caller = mtag_hook_caller(parent_ip);

	if (s->slow & MTAG_SLOW_PARKED)
		return;
	/* In the swap cache since before the owner was known; the slot knows. */
	if (caller == MTAG_BY_SWAPIN && nr == 1 && !PageKsm(page) && !page_mapcount(page))
		mtag_owner_set(page, mtag_swap_tag(mtag_walk_swap_entry(vma->vm_mm, addr)));
	charge_owners(s, page, nr, 1, addr);
	switch (caller) {
	case MTAG_BY_SWAPIN:
		mtag_swap_in(s, vma->vm_mm, addr);
		break;
	case MTAG_BY_RESTORE:
		atomic_sub(nr, &s->migrating);
		break;
	case MTAG_BY_KSM:
		break;
	default:
		atomic64_inc(&mtag_stat.foreign);
	}
}

/*
 * Reclaim leaves a swap entry unless the contents are given up. It is there
 * already; only a merged page does not tell where.
 */
static bool becomes_swap(struct page *page, struct mm_struct *mm, unsigned long addr)
{
	if (!PageSwapCache(page))
		return false;
	if (addr != MTAG_NO_ADDR)
		return mtag_walk_swap_entry(mm, addr);
	return PageSwapBacked(page) && !PageHWPoison(page);
}

static void anon_removed(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			 int nr, enum mtag_caller caller)
{
	unsigned long addr = mtag_follow_addr(vma, page);
	u32 tag = nr > 1 ? MTAG_MIXED : mtag_owner_of(s, page);

	charge_owners(s, page, nr, -1, addr);
	switch (caller) {
	case MTAG_BY_UNMAP:
		if (becomes_swap(page, vma->vm_mm, addr))
			mtag_swap_out(s, page, PageKsm(page) ? MTAG_ID_KSM : tag, addr);
		break;
	case MTAG_BY_MIGRATE:
	case MTAG_BY_SPLIT:
		atomic_add(nr, &s->migrating);
		break;
	case MTAG_BY_COLLAPSE:
		mtag_collapse_removed(s, addr, tag);
		break;
	default:
		break;
	}
}

/**
 * mtag_follow_remove() - a page is unmapped from @s
 * @s:		space
 * @page:	the first of @nr, anonymous or of a file
 * @vma:	where it was mapped
 * @nr:		HPAGE_PMD_NR if it was mapped as a huge page, else 1
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_remove(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			int nr, unsigned long parent_ip)
{
	enum mtag_caller caller;
	bool anon = PageAnon(page);

	/* hugetlb pages are no RSS. */
	if (is_vm_hugetlb_page(vma))
		return;
	caller = mtag_hook_caller(parent_ip);
	if (s->slow & MTAG_SLOW_PARKED) {
		/* It counts nothing, but the slot may be read by its tree later. */
		if (caller == MTAG_BY_UNMAP && anon &&
		    becomes_swap(page, vma->vm_mm, mtag_follow_addr(vma, page)))
			mtag_swap_set(page_private(page), mtag_owner_valid(s, page));
		return;
	}
	if (caller == MTAG_BY_ZAP && anon && nr == 1 && !READ_ONCE(mtag_zap_ip))
		WRITE_ONCE(mtag_zap_ip, parent_ip);
	if (caller == MTAG_BY_COPY || caller == MTAG_BY_REPLACE)
		copy_end(s, anon, anon ? mtag_owner_of(s, page) : MTAG_ID_UNTAGGED,
			 anon ? mtag_follow_addr(vma, page) : MTAG_NO_ADDR);
	if (anon)
		anon_removed(s, page, vma, nr, caller);
	else
		mtag_range_charge(s, vma, page, nr, -1);
}

/* folio_migrate_flags(to, from): neither is mapped */
MTAG_HOOK_FUNC(mtag_follow_migrate)
{
	struct folio *to = (struct folio *)mtag_arg0(fregs);
	struct folio *from = (struct folio *)mtag_arg1(fregs);

	if (!folio_test_anon(from) || folio_test_hugetlb(from))
		return;
	mtag_owner_copy(&to->page, &from->page, folio_nr_pages(from));
	if (folio_test_ksm(from))
		mtag_ksm_copy(&to->page, &from->page);
}
