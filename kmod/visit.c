// SPDX-License-Identifier: GPL-2.0
/*
 * Visits the page tables: the pages and swap entries of a VMA, or of one address.
 * Each part of a walk runs under the page-table lock and the space's walk_lock.
 */
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/mmap_lock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include "compat/compat.h"
#include "mtag.h"
#include "state.h"
#include "visit.h"

static void leave_range(struct mtag_visitor *v, unsigned long end)
{
	if (v->leave)
		v->leave(v, end);
}

static void visit_zero(struct mtag_visitor *v, unsigned long addr, int nr)
{
	if (v->zero)
		v->zero(v, addr, nr);
}

/* Returns the PUD entry for @addr, or NULL. @next is the end of what it covers or of the hole. */
static pud_t *find_pud(struct mm_struct *mm, unsigned long addr, unsigned long end,
		       unsigned long *next)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;

	*next = pgd_addr_end(addr, end);
	if (pgd_none(READ_ONCE(*pgd)) || unlikely(pgd_bad(*pgd)))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	*next = p4d_addr_end(addr, end);
	if (p4d_none(READ_ONCE(*p4d)) || unlikely(p4d_bad(*p4d)))
		return NULL;
	*next = pud_addr_end(addr, end);
	return pud_offset(p4d, addr);
}

/* Returns the PMD entry, likewise. Huge pages of devices may go meanwhile: *pud is read once. */
static pmd_t *find_pmd(struct mm_struct *mm, unsigned long addr, unsigned long end,
		       unsigned long *next)
{
	pud_t *pud = find_pud(mm, addr, end, next), now = pud ? READ_ONCE(*pud) : __pud(0);

	if (pud_none(now) || unlikely(pud_bad(now)))
		return NULL;
	*next = pmd_addr_end(addr, end);
	return pmd_offset(&now, addr);
}

static pte_t *find_pte(struct mm_struct *mm, unsigned long addr)
{
	unsigned long next;
	pmd_t *pmd = find_pmd(mm, addr, addr + PAGE_SIZE, &next);

	if (!pmd || pmd_none(*pmd) || !pmd_present(*pmd) || pmd_trans_huge(*pmd))
		return NULL;
	return pte_offset_kernel(pmd, addr);
}

/* The page frame mapped at @addr, or NULL. Context: its page-table lock. */
struct page *mtag_visit_page(struct mm_struct *mm, unsigned long addr)
{
	pte_t *pte = mm ? find_pte(mm, addr) : NULL;

	return pte && pte_present(*pte) && !pte_special(*pte) ? pte_page(*pte) : NULL;
}

/* The swap entry at @addr, or 0. Context: its page-table lock. */
unsigned long mtag_visit_swap(struct mm_struct *mm, unsigned long addr)
{
	pte_t *pte = find_pte(mm, addr);

	if (!pte || pte_none(*pte) || pte_present(*pte))
		return 0;
	return mtag_pte_swap(*pte);
}

/* True if the PMD entry stands for its whole range, and points to no page table. */
static bool is_leaf(pmd_t pmd)
{
	return !pmd_none(pmd) &&
	       (!pmd_present(pmd) || pmd_trans_huge(pmd) || mtag_pmd_devmap(pmd));
}

/*
 * True for the huge zero page, which no process is charged for. DAX has folios without a mapping,
 * too: those that several files share.
 */
static bool huge_zero(const struct page *page)
{
	struct folio *folio = page_folio((struct page *)page);

	return !folio_test_anon(folio) && !folio->mapping && !is_zone_device_page(page);
}

/**
 * mtag_visit_empty() - is nothing mapped at @addr, or the page of zeros?
 * @mm:		the mm
 * @addr:	in private anonymous memory
 *
 * Context: mmap_lock. The answer may be old where the caller has no page-table lock.
 */
bool mtag_visit_empty(struct mm_struct *mm, unsigned long addr)
{
	unsigned long next;
	bool empty = true;
	pmd_t *pmd, now;
	pte_t pte;

	lockdep_assert_held(&mm->mmap_lock);
	/* Since 6.5 RCU keeps a page table from being freed. */
	rcu_read_lock();
	pmd = find_pmd(mm, addr, addr + PAGE_SIZE, &next);
	now = pmd ? READ_ONCE(*pmd) : __pmd(0);
	if (is_leaf(now)) {
		empty = pmd_present(now) && huge_zero(pmd_page(now));
	} else if (!pmd_none(now)) {
		pte = READ_ONCE(*pte_offset_kernel(&now, addr));
		empty = pte_none(pte) || (pte_present(pte) && is_zero_pfn(pte_pfn(pte)));
	}
	rcu_read_unlock();
	return empty;
}

static void visit_pmd(struct mtag_visitor *v, struct vm_area_struct *vma, pmd_t *pmd,
		      unsigned long addr, unsigned long end)
{
	struct mtag_pte e = { .vma = vma, .addr = addr, .nr = (end - addr) >> PAGE_SHIFT };

	if (!pmd_present(*pmd)) {
		e.page = mtag_pmd_migrating(*pmd);
		e.moving = true;
		if (e.page) {
			e.page += (addr & ~HPAGE_PMD_MASK) >> PAGE_SHIFT;
			v->visit(v, &e);
		}
	} else if (mtag_pmd_special(*pmd) && !vma_is_dax(vma)) {
		/*
		 * In anonymous memory that is the huge zero page, since 6.18. What DAX maps
		 * counts as RSS on 6.16, which marks it, too.
		 */
		if (vma_is_anonymous(vma))
			visit_zero(v, addr, e.nr);
	} else if (!mtag_pmd_devmap(*pmd)) {
		e.page = pmd_page(*pmd);
		if (huge_zero(e.page)) {
			visit_zero(v, addr, e.nr);
			return;
		}
		e.page += (addr & ~HPAGE_PMD_MASK) >> PAGE_SHIFT;
		v->visit(v, &e);
	}
}

static void visit_pte(struct mtag_visitor *v, struct vm_area_struct *vma, pte_t pte,
		      unsigned long addr)
{
	struct mtag_pte e = { .vma = vma, .addr = addr, .nr = 1 };

	if (pte_none(pte))
		return;
	if (pte_present(pte)) {
		if (is_zero_pfn(pte_pfn(pte)))
			visit_zero(v, addr, 1);
		if (pte_special(pte) || mtag_pte_devmap(pte) || is_zero_pfn(pte_pfn(pte)) ||
		    !pfn_valid(pte_pfn(pte)))
			return;
		e.page = pte_page(pte);
		v->visit(v, &e);
		return;
	}
	e.swap = mtag_pte_swap(pte);
	if (!e.swap) {
		e.page = mtag_pte_migrating(pte);
		e.moving = true;
	}
	if (e.swap || e.page)
		v->visit(v, &e);
}

/* Caller holds the page-table lock of @pte, the entry for @addr. */
static void visit_entries(struct mtag_visitor *v, struct vm_area_struct *vma, pte_t *pte,
			  unsigned long addr, unsigned long end)
{
	raw_spin_lock(&v->s->walk_lock);
	for (; addr < end; pte++, addr += PAGE_SIZE)
		visit_pte(v, vma, READ_ONCE(*pte), addr);
	leave_range(v, end);
	raw_spin_unlock(&v->s->walk_lock);
}

/* False if @pmd no longer points to a page table. Since 6.5 RCU keeps that from being freed. */
static bool visit_table(struct mtag_visitor *v, struct vm_area_struct *vma, pmd_t *pmd,
			unsigned long addr, unsigned long end)
{
	bool there = false;
	spinlock_t *ptl;	/* of the page table */
	pmd_t now;

	rcu_read_lock();
	now = READ_ONCE(*pmd);
	if (!pmd_none(now) && !is_leaf(now)) {
		ptl = pte_lockptr(vma->vm_mm, &now);
		spin_lock(ptl);
		there = pmd_same(now, READ_ONCE(*pmd));
		if (there)
			visit_entries(v, vma, pte_offset_kernel(&now, addr), addr, end);
		spin_unlock(ptl);
	}
	rcu_read_unlock();
	return there;
}

/*
 * Visits a huge page, or passes an empty range; false if there is a page table. The lock is held
 * for the empty one, too: the event of a huge page comes before its entry is written, or after that
 * has been cleared.
 */
static bool visit_huge(struct mtag_visitor *v, struct vm_area_struct *vma, pmd_t *pmd,
		       unsigned long addr, unsigned long end)
{
	spinlock_t *ptl = pmd_lock(vma->vm_mm, pmd);
	bool empty = pmd_none(*pmd), huge = is_leaf(*pmd);

	if (empty || huge) {
		raw_spin_lock(&v->s->walk_lock);
		if (huge)
			visit_pmd(v, vma, pmd, addr, end);
		leave_range(v, end);
		raw_spin_unlock(&v->s->walk_lock);
	}
	spin_unlock(ptl);
	return empty || huge;
}

/*
 * Visits 1 GiB of DAX that one PUD entry maps, or passes an empty range, up to @next; false if
 * there is a table of PMD entries. Only DAX has such pages. They count as RSS since 6.16; older
 * kernels mark the entry otherwise. The lock is held as by visit_huge().
 */
static bool visit_gigantic(struct mtag_visitor *v, struct vm_area_struct *vma, unsigned long addr,
			   unsigned long end, unsigned long *next)
{
	struct mtag_pte e = { .vma = vma, .addr = addr };
	bool empty, gigantic;
	spinlock_t *ptl;	/* of the table with the PUD entry */
	pud_t *pud;

	raw_spin_lock(&v->s->walk_lock);
	pud = find_pud(vma->vm_mm, addr, end, next);
	if (!pud)
		leave_range(v, *next);
	raw_spin_unlock(&v->s->walk_lock);
	if (!pud)
		return true;
	ptl = pud_lock(vma->vm_mm, pud);
	empty = pud_none(*pud);
	gigantic = pud_trans_huge(*pud);
	if (empty || gigantic) {
		raw_spin_lock(&v->s->walk_lock);
		if (gigantic) {
			e.page = pud_page(*pud) + ((addr & ~PUD_MASK) >> PAGE_SHIFT);
			e.nr = (*next - addr) >> PAGE_SHIFT;
			v->visit(v, &e);
		}
		leave_range(v, *next);
		raw_spin_unlock(&v->s->walk_lock);
	}
	spin_unlock(ptl);
	return empty || gigantic;
}

static void visit_range(struct mtag_visitor *v, struct vm_area_struct *vma, unsigned long addr,
			unsigned long end)
{
	unsigned long next;
	pmd_t *pmd;

	for (; addr < end; addr = next) {
		if (preemptible())
			cond_resched();
		if (vma_is_dax(vma) && visit_gigantic(v, vma, addr, end, &next))
			continue;
		/* The next round sees an upper level that appears now. */
		raw_spin_lock(&v->s->walk_lock);
		pmd = find_pmd(vma->vm_mm, addr, end, &next);
		if (!pmd)
			leave_range(v, next);
		raw_spin_unlock(&v->s->walk_lock);
		/* Once more: */
		if (pmd && !visit_table(v, vma, pmd, addr, next) &&
		    !visit_huge(v, vma, pmd, addr, next))
			next = addr;
	}
}

/**
 * mtag_visit_vma() - visit what is mapped in [@addr, @end) of @vma
 * @v:		its @visit is called for each page and swap entry
 * @vma:	a mapping; hugetlb is skipped
 * @addr:	page-aligned, in @vma
 * @end:	exclusive
 *
 * Context: mmap_lock of the mm held; may sleep unless preemption is disabled.
 */
void mtag_visit_vma(struct mtag_visitor *v, struct vm_area_struct *vma, unsigned long addr,
		    unsigned long end)
{
	lockdep_assert_held(&vma->vm_mm->mmap_lock);
	/* Hugetlb pages are not part of RSS. */
	if (!is_vm_hugetlb_page(vma) && addr < end)
		visit_range(v, vma, addr, end);
}

/* Is nothing mapped at @addr, up to @next: no table of PMD entries, nor 1 GiB of DAX? */
static bool is_hole(struct mm_struct *mm, unsigned long addr, unsigned long end,
		    unsigned long *next)
{
	pud_t *pud = find_pud(mm, addr, end, next);

	return !pud || pud_none(READ_ONCE(*pud));
}

/* The first address of a part of [@addr, @end) that may be populated, or @end. */
static unsigned long pass_hole(struct mm_struct *mm, unsigned long addr, unsigned long end)
{
	unsigned long next;

	while (addr < end && is_hole(mm, addr, end, &next)) {
		addr = next;
		cond_resched();
	}
	return addr;
}

/**
 * mtag_visit_mm() - visit all that is mapped, and let others have mmap_lock now and then
 * @v:		its @visit is called for each page and swap entry
 * @mm:		mm of @v->s
 * @stride:	visit so many bytes at once, a power of 2
 * @before:	called before each part, with mmap_lock held for reading; NULL: nothing
 *
 * Mappings that come and go meanwhile may be missed, as by smaps_rollup. What has been mapped and
 * never touched may be large: it is passed, without @v->leave.
 * Context: may sleep; mmap_lock not held.
 * Return: 0; -EINTR if killed; what @before returned if that was not 0.
 */
int mtag_visit_mm(struct mtag_visitor *v, struct mm_struct *mm, unsigned long stride,
		  int (*before)(struct mtag_visitor *v))
{
	unsigned long addr = 0, end;
	struct vm_area_struct *vma;
	int ret = 0;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	while (!ret && (vma = find_vma(mm, addr))) {
		ret = before ? before(v) : 0;
		if (ret)
			break;
		/* A stack may grow at its lower end meanwhile. */
		addr = pass_hole(mm, max(addr, READ_ONCE(vma->vm_start)), vma->vm_end);
		end = min(vma->vm_end, ALIGN(addr + 1, stride));
		mtag_visit_vma(v, vma, addr, end);
		addr = end;
		cond_resched();
		if (fatal_signal_pending(current))
			ret = -EINTR;
		if (mmap_lock_is_contended(mm)) {
			mmap_read_unlock(mm);
			if (mmap_read_lock_killable(mm))
				return -EINTR;
		}
	}
	mmap_read_unlock(mm);
	return ret;
}
