// SPDX-License-Identifier: GPL-2.0
/*
 * The owner follows the contents: copy-on-write, migration, KSM, uprobes, huge
 * pages, and whatever else is no plain first touch and no plain unmapping.
 */
#include <linux/hugetlb.h>
#include <linux/page-flags.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "owner.h"
#include "rmap.h"
#include "thread.h"
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
	struct folio *folio = page_folio((struct page *)page);
	unsigned long addr;

	if (folio_test_ksm(folio))
		return MTAG_NO_ADDR;
	addr = vma->vm_start +
	       ((folio->index + (page - &folio->page) - vma->vm_pgoff) << PAGE_SHIFT);
	return addr >= vma->vm_start && addr < vma->vm_end ? addr : MTAG_NO_ADDR;
}

/* Where the page behind one at @addr is. */
static unsigned long behind(unsigned long addr, int i)
{
	return addr == MTAG_NO_ADDR ? addr : addr + i * PAGE_SIZE;
}

/* Who owns what is touched from @addr to @end: the range's tag, or the thread's. */
static u32 touch_tag(struct mtag_space *s, unsigned long addr, unsigned long *end)
{
	u32 tag;

	*end = ULONG_MAX;
	if ((s->slow & MTAG_SLOW_RANGE) && mtag_range_explicit(s, addr, &tag, end))
		return tag;
	return mtag_thread_current(s);
}

static void own_and_charge(struct mtag_space *s, struct page *page, int nr, unsigned long addr,
			   u32 tag)
{
	mtag_owner_set_run(page, nr, tag);
	/* Memory that has no owners is charged as it will be released. */
	mtag_charge(s, mtag_owner_get(page), MTAG_ANON, nr, addr);
}

/*
 * Where the current task notes that it has begun a copy: where it did before; or
 * where a copy has ended; or the oldest, which will have been one of the zero
 * page: such a copy ends with no removal.
 */
static struct mtag_copy *copy_note(struct mtag_cpu *cpu)
{
	struct mtag_copy *note = cpu->copies, *each;

	for (each = cpu->copies; each < cpu->copies + MTAG_COPIES; each++) {
		if (each->task == current) {
			note = each;
			break;
		}
		if (note->page && (!each->page || (s32)(each->turn - note->turn) < 0))
			note = each;
	}
	if (MTAG_COPIES > 1)
		note->turn = cpu->turn++;
	return note;
}

/* What the current task has begun on this CPU. */
static struct mtag_copy *copy_noted(struct mtag_cpu *cpu)
{
	struct mtag_copy *each;

	for (each = cpu->copies; each < cpu->copies + MTAG_COPIES; each++)
		if (each->task == current && each->page)
			return each;
	return NULL;
}

/* The copy comes first; the original, which tells the owner, is removed next. */
static void copy_begin(struct mtag_space *s, struct page *page, unsigned long addr)
{
	unsigned long end;
	u32 tag = touch_tag(s, addr, &end);
	struct mtag_copy *note;

	own_and_charge(s, page, 1, addr, tag);
	mtag_account_touch(s, tag, 1);
	mtag_cpu_hold();
	note = copy_note(this_cpu_ptr(&mtag_cpu));
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
	struct mtag_copy *note;

	mtag_cpu_hold();
	note = copy_noted(this_cpu_ptr(&mtag_cpu));
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
		copy = mtag_walk_page(mm, *addr);
		if (copy)
			*tag = mtag_owner_get(copy);
	}
	return copy;
}

/*
 * The original, which belongs to @tag, is removed: so does the copy. What was
 * merged with another program's page belongs to its writer, like the copy of a
 * file's page.
 */
static void copy_end(struct mtag_space *s, struct mm_struct *mm, u32 tag, unsigned long addr,
		     enum mtag_caller caller)
{
	u32 copy_tag;
	struct page *copy = copy_of(s, mm, &addr, &copy_tag, caller);

	if (!copy || tag == MTAG_ID_KSM)
		return;
	mtag_charge(s, copy_tag, MTAG_ANON, -1, addr);
	mtag_account_touch(s, copy_tag, -1);
	mtag_owner_set(copy, tag);
	mtag_charge(s, tag, MTAG_ANON, 1, addr);
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

/*
 * New pages for what was swapped out: a copy of what KSM had merged before, or,
 * since 6.12, whatever had left memory altogether.
 */
static void new_by_swapin(struct mtag_space *s, struct page *page, int nr, struct mm_struct *mm,
			  unsigned long addr)
{
	int i;

	for (i = 0; i < nr; i++, addr += PAGE_SIZE) {
		own_and_charge(s, page + i, 1, addr, mtag_swap_tag(mtag_walk_swap_entry(mm, addr)));
		mtag_swap_in(s, mm, addr);
	}
	if (nr > 1)
		mtag_owner_mixed(page);
}

/* A folio may lie in several ranges. */
static void new_by_touch(struct mtag_space *s, struct page *page, int nr, unsigned long addr)
{
	unsigned long end;
	int done, part;
	u32 tag;

	for (done = 0; done < nr; done += part) {
		tag = touch_tag(s, addr + done * PAGE_SIZE, &end);
		part = min_t(unsigned long, nr - done,
			     (end - (addr + done * PAGE_SIZE)) >> PAGE_SHIFT);
		own_and_charge(s, page + done, part, addr + done * PAGE_SIZE, tag);
		mtag_account_touch(s, tag, part);
	}
	if (part < nr)
		mtag_owner_mixed(page);
}

/**
 * mtag_follow_new() - an anonymous folio that was mapped nowhere comes to @s
 * @s:		space
 * @page:	its first page
 * @nr:		pages of it, all mapped
 * @vma:	where it is mapped
 * @addr:	in @vma
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_new(struct mtag_space *s, struct page *page, int nr, struct vm_area_struct *vma,
		     unsigned long addr, unsigned long parent_ip)
{
	enum mtag_caller caller = mtag_hook_caller(parent_ip);

	if (s->slow & MTAG_SLOW_PARKED) {
		/* Should it be tracked again, the page is untagged. */
		mtag_owner_set_run(page, nr, MTAG_ID_UNTAGGED);
		return;
	}
	/* Some kernels fault and collapse by the same function. */
	if (caller == MTAG_BY_MAP)
		caller = mtag_collapsing(vma->vm_mm) ? MTAG_BY_COLLAPSE : MTAG_BY_FAULT;
	switch (caller) {
	case MTAG_BY_COPY:
	case MTAG_BY_REPLACE:
		copy_begin(s, page, addr);
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
		if (nr == 1 && !READ_ONCE(mtag_fault_ip))
			WRITE_ONCE(mtag_fault_ip, parent_ip);
		new_by_touch(s, page, nr, addr);
		break;
	case MTAG_BY_TOUCH:
		new_by_touch(s, page, nr, addr);
		break;
	default:
		atomic64_inc(&mtag_stat.foreign);
		new_by_touch(s, page, nr, addr);
	}
}

/* One charge for each run of frames that have the same owner. */
static void charge_owners(struct mtag_space *s, struct page *page, int nr, int sign,
			  unsigned long addr)
{
	u32 tag = nr == HPAGE_PMD_NR ? mtag_owner_get_huge(page) : MTAG_MIXED, next;
	int i, start;

	if (tag != MTAG_MIXED) {
		mtag_charge(s, tag, MTAG_ANON, sign * nr, addr);
		return;
	}
	tag = mtag_owner_valid(s, page);
	for (i = 1, start = 0; i < nr; i++) {
		next = mtag_owner_valid(s, page + i);
		if (next == tag)
			continue;
		mtag_charge(s, tag, MTAG_ANON, sign * (i - start), behind(addr, start));
		tag = next;
		start = i;
	}
	mtag_charge(s, tag, MTAG_ANON, sign * (nr - start), behind(addr, start));
}

/* In the swap cache since before the owner was known; the slot knows. */
static void own_by_slot(struct mm_struct *mm, struct page *page, unsigned long addr)
{
	if (!mtag_is_ksm(page) && !mtag_page_mapcount(page))
		mtag_owner_change(page, mtag_swap_tag(mtag_walk_swap_entry(mm, addr)));
}

/**
 * mtag_follow_add() - anonymous contents that have an owner are mapped in @s
 * @s:		space
 * @page:	the first of @nr
 * @vma:	where it is mapped
 * @addr:	of @page in @vma
 * @nr:		pages, of one folio
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_add(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
		     unsigned long addr, int nr, unsigned long parent_ip)
{
	enum mtag_caller caller = mtag_hook_caller(parent_ip);
	int i;

	if (s->slow & MTAG_SLOW_PARKED)
		return;
	for (i = 0; caller == MTAG_BY_SWAPIN && i < nr; i++)
		own_by_slot(vma->vm_mm, page + i, addr + i * PAGE_SIZE);
	charge_owners(s, page, nr, 1, addr);
	switch (caller) {
	case MTAG_BY_SWAPIN:
		for (i = 0; i < nr; i++)
			mtag_swap_in(s, vma->vm_mm, addr + i * PAGE_SIZE);
		break;
	case MTAG_BY_RESTORE:
	case MTAG_BY_SPLIT:	/* the small pages come before the huge one goes */
		atomic_sub(nr, &s->migrating);
		break;
	case MTAG_BY_KSM:
		break;
	default:
		atomic64_inc(&mtag_stat.foreign);
	}
}

/*
 * The swap entry that reclaim has left for @page, 0 if the contents are given
 * up. It is in the page table already; a merged page does not tell where.
 */
static unsigned long left_in_swap(struct page *page, struct mm_struct *mm, unsigned long addr)
{
	struct folio *folio = page_folio(page);

	if (!folio_test_swapcache(folio))
		return 0;
	if (addr != MTAG_NO_ADDR)
		return mtag_walk_swap_entry(mm, addr);
	return folio_test_swapbacked(folio) && !PageHWPoison(page) ? page_private(page) : 0;
}

static void reclaimed(struct mtag_space *s, struct page *page, struct mm_struct *mm,
		      unsigned long addr)
{
	unsigned long entry = left_in_swap(page, mm, addr);

	if (entry)
		mtag_swap_out(s, entry, mtag_is_ksm(page) ? MTAG_ID_KSM : mtag_owner_of(s, page),
			      addr);
}

static void anon_removed(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			 int nr, enum mtag_caller caller)
{
	unsigned long addr = mtag_follow_addr(vma, page);
	int i;

	charge_owners(s, page, nr, -1, addr);
	switch (caller) {
	case MTAG_BY_UNMAP:
		for (i = 0; i < nr; i++)
			reclaimed(s, page + i, vma->vm_mm, behind(addr, i));
		break;
	case MTAG_BY_MIGRATE:
	case MTAG_BY_SPLIT:
		atomic_add(nr, &s->migrating);
		break;
	case MTAG_BY_COLLAPSE:
		for (i = 0; i < nr; i++)
			mtag_collapse_removed(s, behind(addr, i), mtag_owner_of(s, page + i));
		break;
	default:
		break;
	}
}

/* It counts nothing, but the slots may be read by its tree later. */
static void parked_removed(struct mtag_space *s, struct page *page, struct mm_struct *mm, int nr,
			   unsigned long addr)
{
	unsigned long entry;
	int i;

	for (i = 0; i < nr; i++) {
		entry = left_in_swap(page + i, mm, behind(addr, i));
		if (entry)
			mtag_swap_set(entry, mtag_owner_valid(s, page + i));
	}
}

/**
 * mtag_follow_remove() - pages are unmapped from @s
 * @s:		space
 * @page:	the first of @nr, anonymous or of a file
 * @vma:	where they were mapped
 * @nr:		pages, of one folio
 * @parent_ip:	caller of the rmap function
 *
 * Context: page-table lock of the mapping.
 */
void mtag_follow_remove(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			int nr, unsigned long parent_ip)
{
	enum mtag_caller caller;
	bool anon = folio_test_anon(page_folio(page));

	/* hugetlb pages are no RSS. */
	if (is_vm_hugetlb_page(vma))
		return;
	caller = mtag_hook_caller(parent_ip);
	if (s->slow & MTAG_SLOW_PARKED) {
		if (caller == MTAG_BY_UNMAP && anon)
			parked_removed(s, page, vma->vm_mm, nr, mtag_follow_addr(vma, page));
		return;
	}
	if (caller == MTAG_BY_ZAP && anon && nr == 1 && !READ_ONCE(mtag_zap_ip))
		WRITE_ONCE(mtag_zap_ip, parent_ip);
	if (anon && (caller == MTAG_BY_COPY || caller == MTAG_BY_REPLACE))
		copy_end(s, vma->vm_mm, mtag_owner_of(s, page), mtag_follow_addr(vma, page),
			 caller);
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

/* ---- userfaultfd moves pages, and no rmap event tells of it ---- */

struct moving {
	struct callback_head work;
	struct mtag_space *s;
};

static void moving_done(struct callback_head *work)
{
	struct moving *m = container_of(work, struct moving, work);

	atomic_dec(&m->s->movers);
	mtag_space_put(m->s);
	kfree(m);
	mtag_life_later_done();
}

/*
 * userfaultfd_ioctl(file, cmd, arg): UFFDIO_MOVE takes contents elsewhere in its
 * own process under a mere read lock. The owners go with the frames and the
 * swap slots; only a walk under way might miss them, or count them twice.
 */
MTAG_HOOK_FUNC(mtag_follow_uffd)
{
	struct mtag_space *s;
	struct moving *m;
	bool sleeps;
	gfp_t gfp;

	if ((u32)mtag_arg1(fregs) != MTAG_UFFDIO_MOVE || !current->mm)
		return;
	s = mtag_space_get_mm(current->mm);
	if (!s)
		return;
	gfp = mtag_hook_gfp(&sleeps);
	m = gfp ? kmalloc(sizeof(*m), gfp) : NULL;
	if (m) {
		m->s = mtag_space_get(s);
		atomic_inc(&s->movers);
		mtag_walk_spoil(s);
		if (!mtag_life_later(current, &m->work, moving_done)) {
			atomic_dec(&s->movers);
			mtag_space_put(s);
			kfree(m);
		}
	} else {
		atomic64_inc(&s->lost);
		atomic64_inc(&mtag_stat.lost);
		/* When it is over nobody will know. */
		WRITE_ONCE(s->unsure, true);
		mtag_walk_spoil(s);
		mtag_space_dirty(s);
	}
	if (sleeps)
		mtag_hook_sleep_end();
	mtag_space_put(s);
}
