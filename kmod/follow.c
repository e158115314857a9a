// SPDX-License-Identifier: GPL-2.0
/*
 * Handles the page events outside the hot path, so that the owner follows the
 * contents: migration, KSM, swap, huge pages and others. cow.c handles copies.
 */
#include <linux/hugetlb.h>
#include <linux/page-flags.h>
#include "account.h"
#include "caller.h"
#include "charge.h"
#include "collapse.h"
#include "compat/compat.h"
#include "cow.h"
#include "file.h"
#include "follow.h"
#include "hooked.h"
#include "ksm.h"
#include "leaf.h"
#include "leaver.h"
#include "migrate.h"
#include "mtag.h"
#include "owner.h"
#include "parked.h"
#include "range.h"
#include "stat.h"
#include "state.h"
#include "swap.h"
#include "take.h"
#include "thread.h"
#include "visit.h"

/* The address of an anonymous @page in @vma; MTAG_NO_ADDR if it cannot be told (KSM). */
static unsigned long addr_of(const struct vm_area_struct *vma, const struct page *page)
{
	struct folio *folio = page_folio((struct page *)page);
	unsigned long addr;

	if (folio_test_ksm(folio))
		return MTAG_NO_ADDR;
	addr = vma->vm_start +
	       ((folio->index + (page - &folio->page) - mtag_anon_pgoff(vma)) << PAGE_SHIFT);
	return addr >= vma->vm_start && addr < vma->vm_end ? addr : MTAG_NO_ADDR;
}

/* Where tags are those of mappings: has a stack grown to @addr? Fills in its tag then. */
static bool stack_has_grown(struct mtag_space *s, const struct vm_area_struct *vma,
			    unsigned long addr, u32 *tag, unsigned long *end)
{
	return vma->vm_flags & VM_GROWSDOWN && READ_ONCE(s->naming) == MTAG_NAMING_MAP &&
	       mtag_range_grown(s, addr, vma->vm_end - 1, tag, end);
}

/* The owner of pages touched from @addr to @end: the range's explicit tag, or the thread's tag. */
static u32 touch_tag(struct mtag_space *s, const struct vm_area_struct *vma, unsigned long addr,
		     unsigned long *end)
{
	u32 tag;

	*end = ULONG_MAX;
	if ((s->slow & MTAG_SLOW_RANGE) && (mtag_range_explicit(s, vma, addr, &tag, end) ||
					    stack_has_grown(s, vma, addr, &tag, end)))
		return tag;
	return mtag_thread_tag(s);
}

static void own_and_charge(struct mtag_space *s, struct page *page, int nr, unsigned long addr,
			   u32 tag)
{
	mtag_owner_set_run(page, nr, tag);
	/* Memory without owners is charged to the tag that it will be released from. */
	mtag_charge(s, mtag_owner_get(page), MTAG_ANON, nr, addr);
}

/*
 * A fork copies a pinned page: the child's copy gets the owner of the parent's
 * page. It is counted with the rest of the child when the fork ends.
 */
static void new_by_fork(struct mtag_space *s, struct page *page, unsigned long addr)
{
	struct page *original = mtag_visit_page(current->mm, addr);

	mtag_owner_set(page, original ? mtag_ksm_owner(s, original) : MTAG_ID_UNTAGGED);
	if (original)
		mtag_ksm_leaf_copy(page, original);
}

/*
 * New pages for swapped-out contents: a copy of a page that KSM had merged, or,
 * since 6.12, any contents that are no longer in the swap cache.
 */
static void new_by_swapin(struct mtag_space *s, struct page *page, int nr, struct mm_struct *mm,
			  unsigned long addr)
{
	int i;

	for (i = 0; i < nr; i++, addr += PAGE_SIZE) {
		own_and_charge(s, page + i, 1, addr, mtag_swap_tag(mtag_visit_swap(mm, addr)));
		mtag_leaf_set(page + i, 1, mtag_leaf_slot(mtag_visit_swap(mm, addr)));
		mtag_swap_in(s, mm, addr);
	}
	if (nr > 1)
		mtag_owner_mark_mixed(page);
}

/* A folio may span several ranges. */
static void new_by_touch(struct mtag_space *s, struct page *page, int nr,
			 const struct vm_area_struct *vma, unsigned long addr)
{
	unsigned long end;
	int done, part;
	u32 tag;

	for (done = 0; done < nr; done += part) {
		tag = touch_tag(s, vma, addr + done * PAGE_SIZE, &end);
		part = min_t(unsigned long, nr - done,
			     (end - (addr + done * PAGE_SIZE)) >> PAGE_SHIFT);
		own_and_charge(s, page + done, part, addr + done * PAGE_SIZE, tag);
		mtag_account_touch(s, tag, part);
		if (unlikely(mtag_space_stacks(s)))
			mtag_take_pages(s, vma->vm_mm, page, done, part, tag);
	}
	if (part < nr)
		mtag_owner_mark_mixed(page);
}

/**
 * mtag_follow_new() - a new anonymous folio is mapped in @s
 * @s:		space
 * @page:	first page of the folio
 * @nr:		number of pages, all of them mapped
 * @vma:	mapping
 * @addr:	address in @vma
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_new(struct mtag_space *s, struct page *page, int nr, struct vm_area_struct *vma,
		     unsigned long addr, unsigned long parent_ip)
{
	enum mtag_caller caller = mtag_caller_of(parent_ip);
	unsigned long end;
	u32 tag;

	if (mtag_space_parked(s)) {
		mtag_parked_new(page, nr, vma->vm_mm, addr, parent_ip);
		return;
	}
	/* In some kernels faults and collapses call the same function. */
	if (caller == MTAG_BY_MAP)
		caller = mtag_collapsing(vma->vm_mm) ? MTAG_BY_COLLAPSE : MTAG_BY_FAULT;
	switch (caller) {
	case MTAG_BY_COPY:
		mtag_caller_learn(&mtag_copy_ip, parent_ip);
		fallthrough;
	case MTAG_BY_REPLACE:
		tag = touch_tag(s, vma, addr, &end);
		mtag_cow_begin(s, page, addr, tag);
		if (mtag_space_stacks(s))
			mtag_take_pages(s, vma->vm_mm, page, 0, 1, tag);
		break;
	case MTAG_BY_FORK:
		new_by_fork(s, page, addr);
		break;
	case MTAG_BY_SWAPIN:
		new_by_swapin(s, page, nr, vma->vm_mm, addr);
		break;
	case MTAG_BY_COLLAPSE:
		mtag_collapse_added(s, page, nr, addr);
		break;
	case MTAG_BY_FAULT:
		if (nr == 1)
			mtag_caller_learn(&mtag_fault_ip, parent_ip);
		fallthrough;
	case MTAG_BY_TOUCH:
		new_by_touch(s, page, nr, vma, addr);
		break;
	default:
		mtag_space_add_foreign(s);
		new_by_touch(s, page, nr, vma, addr);
	}
}

/* How many of the @nr frames from @page on have the same owner as the first, and its @tag. */
static int run_of(struct mtag_space *s, const struct page *page, int nr, u32 *tag)
{
	int i;

	*tag = nr == HPAGE_PMD_NR ? mtag_owner_get_huge(page) : MTAG_MIXED;
	if (*tag != MTAG_MIXED)
		return nr;
	*tag = mtag_ksm_owner_valid(s, page);
	for (i = 1; i < nr; i++)
		if (mtag_ksm_owner_valid(s, page + i) != *tag)
			break;
	return i;
}

/* Charge each run of frames with the same owner at once. */
static void charge_owners(struct mtag_space *s, struct page *page, int nr, int sign,
			  unsigned long addr)
{
	int done, part;
	u32 tag;

	for (done = 0; done < nr; done += part) {
		part = run_of(s, page + done, nr - done, &tag);
		mtag_charge(s, tag, MTAG_ANON, sign * part, mtag_addr_behind(addr, done));
	}
}

/* Where migration takes a page away. KSM's do not tell, but the task that takes it knows. */
static unsigned long addr_left(const struct vm_area_struct *vma, const struct page *page)
{
	struct mtag_leaver leaver;
	unsigned long addr;

	if (!mtag_is_ksm(page))
		return addr_of(vma, page);
	addr = mtag_leaver_get(&leaver) && leaver.vma == vma ? leaver.addr : MTAG_NO_ADDR;
	mtag_leaver_leave();
	return addr;
}

/* Migration takes pages away: they stay charged if they can be noted. */
static void pages_taken(struct mtag_space *s, struct page *page, int nr, unsigned long addr)
{
	int done, part;
	u32 tag;

	for (done = 0; done < nr; done += part) {
		part = run_of(s, page + done, nr - done, &tag);
		if (mtag_migrate_take(s, page + done, part, mtag_addr_behind(addr, done), tag,
				      MTAG_ANON))
			continue;
		mtag_charge(s, tag, MTAG_ANON, -part, mtag_addr_behind(addr, done));
		atomic_add(part, &s->migration.uncharged);
	}
}

/*
 * A page is back, and has been charged to @tag meanwhile. Untagged during that, it keeps the tag;
 * but one that KSM has merged is others', too, and a device's has no place in the owner table: they
 * are charged here to what they belong to now.
 */
static void page_back(struct mtag_space *s, struct page *page, unsigned long addr, u32 tag)
{
	u32 now;

	if (!mtag_is_ksm(page)) {
		if (mtag_owner_get(page) == tag)
			return;
		mtag_owner_change(page, tag);
	}
	now = mtag_ksm_owner_valid(s, page);
	if (now == tag)
		return;
	mtag_charge(s, tag, MTAG_ANON, -1, addr);
	mtag_charge(s, now, MTAG_ANON, 1, addr);
}

/* Migration brings pages back, in the same frames or in others. */
static void pages_restored(struct mtag_space *s, struct page *page, int nr, unsigned long addr)
{
	u32 tag;
	int i;

	for (i = 0; i < nr; i++) {
		if (mtag_migrate_restore(s, addr + i * PAGE_SIZE, &tag)) {
			page_back(s, page + i, addr + i * PAGE_SIZE, tag);
			continue;
		}
		charge_owners(s, page + i, 1, 1, addr + i * PAGE_SIZE);
		/* A walk may have noted the page, and no longer counts it among these. */
		atomic_dec_if_positive(&s->migration.uncharged);
	}
}

/*
 * A split of a huge page first maps its small pages, then unmaps it, under one page-table lock: no
 * charge changes. A split for migration only unmaps it.
 */
struct split {
	const struct mtag_space *s;
	const struct page *page;
};

static DEFINE_PER_CPU(struct split, mtag_split);

static void split_added(const struct mtag_space *s, const struct page *page)
{
	this_cpu_write(mtag_split.s, s);
	this_cpu_write(mtag_split.page, page);
}

static void split_removed(struct mtag_space *s, struct page *page, int nr, unsigned long addr)
{
	if (this_cpu_read(mtag_split.page) == page && this_cpu_read(mtag_split.s) == s)
		this_cpu_write(mtag_split.page, NULL);
	else
		pages_taken(s, page, nr, addr);
}

/* The page may be in the swap cache since before its owner was known. The swap slot has it. */
static void own_by_slot(struct mm_struct *mm, struct page *page, unsigned long addr)
{
	if (!mtag_is_ksm(page) && !mtag_page_mapcount(page))
		mtag_swap_own(mm, page, addr);
}

/**
 * mtag_follow_add() - anonymous contents that have an owner are mapped in @s
 * @s:		space
 * @page:	first page
 * @vma:	mapping
 * @addr:	address of @page in @vma
 * @nr:		number of pages, of one folio
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_add(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
		     unsigned long addr, int nr, unsigned long parent_ip)
{
	enum mtag_caller caller = mtag_caller_of(parent_ip);
	int i;

	/* Of a parked space, too: reclaim gives the slot the owner of the page. */
	if (caller == MTAG_BY_SWAPIN)
		for (i = 0; i < nr; i++)
			own_by_slot(vma->vm_mm, page + i, addr + i * PAGE_SIZE);
	if (mtag_space_parked(s))
		return;
	switch (caller) {
	case MTAG_BY_RESTORE:
		pages_restored(s, page, nr, addr);
		return;
	case MTAG_BY_SPLIT:
		split_added(s, page);
		return;
	case MTAG_BY_KSM:
		/* The page that is mapped there is removed next. */
		mtag_charge_replacing(s, mtag_ksm_owner_valid(s, page), addr);
		return;
	case MTAG_BY_SWAPIN:
		break;
	default:
		mtag_space_add_foreign(s);
	}
	charge_owners(s, page, nr, 1, addr);
	if (caller == MTAG_BY_SWAPIN)
		for (i = 0; i < nr; i++)
			mtag_swap_in(s, vma->vm_mm, addr + i * PAGE_SIZE);
}

static void page_reclaimed(struct mtag_space *s, struct page *page, struct mm_struct *mm,
			   unsigned long addr)
{
	unsigned long entry = mtag_swap_left(page, mm, addr);

	if (!entry)
		return;
	mtag_swap_out(s, entry, mtag_ksm_slot_owner(s, page), addr);
	mtag_leaf_set_slot(entry, mtag_ksm_leaf(page));
}

static void anon_removed(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			 int nr, enum mtag_caller caller)
{
	unsigned long addr = addr_of(vma, page);
	int i;

	switch (caller) {
	case MTAG_BY_MIGRATE:
		pages_taken(s, page, nr, addr_left(vma, page));
		return;
	case MTAG_BY_SPLIT:
		split_removed(s, page, nr, addr);
		return;
	case MTAG_BY_OTHER:
		mtag_space_add_foreign(s);
		break;
	default:
		break;
	}
	charge_owners(s, page, nr, -1, addr);
	if (caller == MTAG_BY_UNMAP)
		for (i = 0; i < nr; i++)
			page_reclaimed(s, page + i, vma->vm_mm, mtag_addr_behind(addr, i));
	else if (caller == MTAG_BY_COLLAPSE)
		for (i = 0; i < nr; i++)
			mtag_collapse_removed(s, mtag_addr_behind(addr, i),
					      mtag_ksm_owner(s, page + i), mtag_ksm_leaf(page + i));
}

/* Callers may drop pages of files elsewhere than small anonymous ones. */
static void learn_removal(enum mtag_caller caller, bool anon, int nr, unsigned long parent_ip)
{
	if (caller == MTAG_BY_ZAP && anon && nr == 1)
		mtag_caller_learn(&mtag_zap_ip, parent_ip);
	else if ((caller == MTAG_BY_ZAP || caller == MTAG_BY_FLUSH) && !anon &&
		 nr < HPAGE_PMD_NR && parent_ip != READ_ONCE(mtag_zap_ip))
		mtag_caller_learn(&mtag_unmap_ip, parent_ip);
	else if (caller == MTAG_BY_COPY && anon)
		mtag_caller_learn(&mtag_copied_ip, parent_ip);
}

/**
 * mtag_follow_remove() - pages are unmapped from @s
 * @s:		space
 * @page:	first page, anonymous or of a file
 * @vma:	mapping
 * @nr:		number of pages, of one folio
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_remove(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			int nr, unsigned long parent_ip)
{
	enum mtag_caller caller;
	bool anon = folio_test_anon(page_folio(page));

	/* hugetlb pages are not part of RSS. */
	if (is_vm_hugetlb_page(vma))
		return;
	caller = mtag_caller_of(parent_ip);
	if (mtag_space_parked(s)) {
		if (caller == MTAG_BY_UNMAP && anon)
			mtag_parked_removed(s, page, vma->vm_mm, nr, addr_of(vma, page));
		return;
	}
	learn_removal(caller, anon, nr, parent_ip);
	if (anon && (caller == MTAG_BY_COPY || caller == MTAG_BY_REPLACE))
		mtag_cow_end(s, vma->vm_mm, page, addr_of(vma, page), caller);
	if (anon) {
		anon_removed(s, page, vma, nr, caller);
		return;
	}
	if (caller == MTAG_BY_OTHER)
		mtag_space_add_foreign(s);
	if (caller == MTAG_BY_MIGRATE)
		mtag_file_taken(s, vma, page, nr);
	else if (caller == MTAG_BY_FLUSH)
		mtag_file_flushed(s, vma, page, nr);
	else
		mtag_file_charge(s, vma, page, nr, -1);
}

/**
 * mtag_follow_file() - pages of a file or of shared memory are mapped in @s
 * @s:		space
 * @page:	first page
 * @vma:	mapping
 * @nr:		number of pages
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_file(struct mtag_space *s, const struct page *page,
		      const struct vm_area_struct *vma, int nr, unsigned long parent_ip)
{
	enum mtag_caller caller;

	if (mtag_space_parked(s) || is_vm_hugetlb_page((struct vm_area_struct *)vma))
		return;
	caller = mtag_caller_of(parent_ip);
	if (caller == MTAG_BY_OTHER)
		mtag_space_add_foreign(s);
	else if (caller == MTAG_BY_TOUCH && nr < HPAGE_PMD_NR)
		mtag_caller_learn(&mtag_map_ip, parent_ip);
	if (caller == MTAG_BY_RESTORE)
		mtag_file_restored(s, vma, page, nr);
	else
		mtag_file_charge(s, vma, page, nr, 1);
}

/* folio_migrate_flags(to, from): neither folio is mapped */
MTAG_HOOK_FUNC(mtag_follow_migrate)
{
	struct folio *to = (struct folio *)mtag_arg0(fregs);
	struct folio *from = (struct folio *)mtag_arg1(fregs);

	if (!folio_test_anon(from) || folio_test_hugetlb(from))
		return;
	mtag_owner_copy(&to->page, &from->page, folio_nr_pages(from));
	mtag_leaf_copy(&to->page, &from->page, folio_nr_pages(from));
	if (folio_test_ksm(from))
		mtag_ksm_copy(&to->page, &from->page);
}
