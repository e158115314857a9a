// SPDX-License-Identifier: GPL-2.0
/*
 * Walks over the page tables of a live process, exact while it runs.
 *
 * A walk has a cursor. What lies below has been counted into a shadow of the
 * counters, and page events there change the shadow as well; what lies above
 * the walk will find by itself. An address is passed under its page-table
 * lock, under which its events come too. So at the end the shadow is what the
 * counters ought to be, however much was mapped and unmapped meanwhile.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include "compat/compat.h"
#include "hook.h"
#include "owner.h"
#include "rmap.h"
#include "walk.h"

#define ATTEMPTS 8

/**
 * mtag_walk_event() - a page event in a space that a walk or a fork goes through
 * @s:		space
 * @tag:	that they are charged to
 * @kind:	what they are
 * @pages:	may be negative
 * @addr:	MTAG_NO_ADDR if unknown
 *
 * Context: page-table lock of the mapping.
 */
void mtag_walk_event(struct mtag_space *s, u32 tag, enum mtag_kind kind, int pages,
		     unsigned long addr)
{
	struct mtag_walk *w;

	raw_spin_lock(&s->walk_lock);
	s->fork_events++;
	if (s->live)
		mtag_account_add(s, tag, kind, pages);
	w = s->walk;
	if (w && !w->retag) {
		if (addr == MTAG_NO_ADDR || tag >= w->nr_tags)
			w->inexact = true;
		else if (addr < w->cursor)
			w->shadow[tag][kind] += pages;
	}
	raw_spin_unlock(&s->walk_lock);
}

/**
 * mtag_walk_spoil() - pages move behind the back of a walk, if there is one
 * @s:		space
 *
 * Context: any but NMI.
 */
void mtag_walk_spoil(struct mtag_space *s)
{
	raw_spin_lock(&s->walk_lock);
	if (s->walk && !s->walk->retag)
		s->walk->inexact = true;
	raw_spin_unlock(&s->walk_lock);
}

/* ---- counting ---- */

struct counter {
	struct mtag_visitor v;
	struct mtag_walk w;
	bool untag;		/* what is found is to be untagged */
	bool fresh;		/* nobody else can have given it an owner */
	s64 total[MTAG_KINDS];
};

static void count_add(struct counter *c, u32 tag, enum mtag_kind kind, int pages)
{
	if (tag < c->w.nr_tags)
		c->w.shadow[tag][kind] += pages;
	else
		c->w.inexact = true;
	c->total[kind] += pages;
}

/*
 * Takes the owner away. In a new tree that is safe for whatever is not KSM:
 * a tracked process that shares the page without sharing the tree has it
 * untagged as well. In an old tree a relative may have it charged.
 */
static void untag(struct counter *c, const struct mtag_pte *e)
	__must_hold(&c->v.s->walk_lock)
{
	int i;

	if (!c->fresh) {
		if (e->nr > 1 || mtag_page_mapcount(e->page) != 1 || !trylock_page(e->page))
			return;
		/* A relative may have it in swap. */
		if (!mtag_is_ksm(e->page) && !folio_test_swapcache(page_folio(e->page)))
			mtag_owner_set(e->page, MTAG_ID_UNTAGGED);
		/* Waking who waits for it may sleep on PREEMPT_RT. */
		raw_spin_unlock(&c->v.s->walk_lock);
		unlock_page(e->page);
		raw_spin_lock(&c->v.s->walk_lock);
		return;
	}
	if (mtag_is_ksm(e->page))
		return;
	if (e->nr == HPAGE_PMD_NR) {
		mtag_owner_set_huge(e->page, MTAG_ID_UNTAGGED);
		return;
	}
	if (PageCompound(e->page))
		mtag_owner_mixed(e->page);
	for (i = 0; i < e->nr; i++)
		mtag_owner_set(e->page + i, MTAG_ID_UNTAGGED);
}

static void count_file(struct counter *c, const struct mtag_pte *e)
{
	enum mtag_kind kind = mtag_file_kind(e->page);
	unsigned long addr = mtag_range_addr(e->vma, e->page), ignored;
	int i;

	for (i = 0; i < e->nr; i++)
		count_add(c, mtag_range_tag(c->v.s, addr + i * PAGE_SIZE, &ignored), kind, 1);
}

static void count_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	struct counter *c = container_of(v, struct counter, v);
	int i;

	if (!e->page) {
		if (c->untag && c->fresh)
			mtag_swap_set(e->swap, MTAG_ID_UNTAGGED);
		if (mtag_swap_tag(e->swap) >= READ_ONCE(v->s->tree->nr_tags))
			mtag_swap_set(e->swap, MTAG_ID_UNTAGGED);
		count_add(c, mtag_swap_tag(e->swap), MTAG_SWAP, 1);
		return;
	}
	if (!PageAnon(e->page)) {
		count_file(c, e);
		return;
	}
	if (c->untag)
		untag(c, e);
	for (i = 0; i < e->nr; i++)
		count_add(c, mtag_owner_valid(v->s, e->page + i), MTAG_ANON, 1);
}

static void count_leave(struct mtag_visitor *v, unsigned long end)
{
	container_of(v, struct counter, v)->w.cursor = end;
}

static int counter_init(struct counter *c, struct mtag_space *s, gfp_t gfp)
{
	memset(c, 0, sizeof(*c));
	c->v.visit = count_visit;
	c->v.leave = count_leave;
	c->v.s = s;
	rcu_read_lock();
	c->w.nr_tags = READ_ONCE(rcu_dereference(s->accounts)->nr_tags);
	rcu_read_unlock();
	c->w.shadow = kvcalloc(c->w.nr_tags, sizeof(*c->w.shadow), gfp);
	return c->w.shadow ? 0 : -ENOMEM;
}

static void count_begin(struct counter *c)
{
	struct mtag_space *s = c->v.s;

	raw_spin_lock(&s->walk_lock);
	s->walk = &c->w;
	WRITE_ONCE(s->slow, s->slow | MTAG_SLOW_WALK);
	raw_spin_unlock(&s->walk_lock);
}

/* A stack may grow at its lower end while mmap_lock is held for reading. */
static unsigned long enter_vma(struct mtag_visitor *v, struct vm_area_struct *vma)
{
	unsigned long start;

	raw_spin_lock(&v->s->walk_lock);
	start = READ_ONCE(vma->vm_start);
	v->leave(v, start);
	raw_spin_unlock(&v->s->walk_lock);
	return start;
}

static void count_mm(struct counter *c, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	for_each_vma(vmi, vma)
		mtag_walk_vma(&c->v, vma, enter_vma(&c->v, vma), vma->vm_end);
}

/* Caller holds walk_lock. */
static void take_shadow(struct counter *c)
{
	struct mtag_space *s = c->v.s;
	struct mtag_accounts *acc = rcu_dereference_protected(s->accounts, true);
	static const s64 none[MTAG_KINDS];
	unsigned int tag;

	for (tag = 0; tag < acc->nr_tags; tag++)
		mtag_account_set(acc, tag, tag < c->w.nr_tags ? c->w.shadow[tag] : none);
	atomic_set(&s->migrating, c->v.migrating);
	s->live = true;
}

/* Caller holds walk_lock. */
static void compare_shadow(struct counter *c, struct mtag_audit *audit)
{
	struct mtag_accounts *acc = rcu_dereference_protected(c->v.s->accounts, true);
	struct mtag_sum sum;
	unsigned int tag;
	int kind;

	for (tag = 0; tag < min(acc->nr_tags, c->w.nr_tags); tag++) {
		mtag_account_fold(acc, tag, &sum);
		for (kind = 0; kind < MTAG_KINDS; kind++) {
			audit->drift += abs(sum.nr[kind] - c->w.shadow[tag][kind]);
			if (kind == MTAG_SWAP)
				continue;
			audit->accounted += sum.nr[kind];
			audit->walked += c->w.shadow[tag][kind];
		}
	}
	audit->migrating = c->v.migrating;
}

/* Ends the walk; -EAGAIN if it did not come out exact. */
static int count_end(struct counter *c, struct mtag_audit *audit)
{
	struct mtag_space *s = c->v.s;
	int ret;

	raw_spin_lock(&s->walk_lock);
	ret = c->w.inexact ? -EAGAIN : 0;
	if (!ret && audit)
		compare_shadow(c, audit);
	else if (!ret)
		take_shadow(c);
	s->walk = NULL;
	if (s->live)
		WRITE_ONCE(s->slow, s->slow & ~MTAG_SLOW_WALK);
	raw_spin_unlock(&s->walk_lock);
	return ret;
}

static u64 kernel_rss(struct mm_struct *mm)
{
	return mtag_compat_rss(mm, MM_ANONPAGES) + mtag_compat_rss(mm, MM_FILEPAGES) +
	       mtag_compat_rss(mm, MM_SHMEMPAGES);
}

/**
 * mtag_walk_lock() - mmap_lock for reading, and no munmap under way
 * @mm:		its mmap_read_unlock() is owed
 *
 * munmap() keeps only a read lock while it zaps what is no longer in the tree
 * of mappings, where a walk would not find it.
 * Context: may sleep.
 * Return: 0 or -EINTR.
 */
int mtag_walk_lock(struct mm_struct *mm)
{
	int ret = mmap_write_lock_killable(mm);

	if (!ret)
		mmap_write_downgrade(mm);
	return ret;
}

static int count_once(struct counter *c, struct mm_struct *mm, struct mtag_audit *audit)
{
	struct mtag_space *s = c->v.s;
	int ret;

	count_begin(c);
	/* Hooks that began before now know nothing of the walk: let them finish. */
	synchronize_rcu();
	if (atomic_read(&s->movers))
		mtag_walk_spoil(s);
	ret = mtag_walk_lock(mm);
	if (ret) {
		c->w.inexact = true;
		count_end(c, audit);
		return ret;
	}
	count_mm(c, mm);
	if (audit) {
		memset(audit, 0, sizeof(*audit));
		audit->kernel = kernel_rss(mm);
	}
	ret = count_end(c, audit);
	mmap_read_unlock(mm);
	return ret;
}

/* Caller holds build_lock and a reference on @mm. */
static int count(struct mtag_space *s, struct mm_struct *mm, bool untag, bool fresh,
		 struct mtag_audit *audit)
{
	struct counter c;
	int ret, i;

	for (i = 0; i < ATTEMPTS; i++) {
		ret = counter_init(&c, s, GFP_KERNEL);
		if (ret)
			break;
		c.untag = untag;
		c.fresh = fresh;
		ret = count_once(&c, mm, audit);
		kvfree(c.w.shadow);
		if (ret != -EAGAIN)
			break;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (atomic_read(&s->movers))
			schedule_timeout_killable(1);
	}
	return ret;
}

/**
 * mtag_walk_build() - count a space for the first time; its pages become untagged
 * @s:		space
 * @mm:		its mm
 * @fresh:	its tree is new
 *
 * Context: caller holds build_lock and a reference on @mm. May sleep.
 * Return: 0; -EAGAIN if its pages would not hold still, -ENOMEM, -EINTR.
 */
int mtag_walk_build(struct mtag_space *s, struct mm_struct *mm, bool fresh)
{
	lockdep_assert_held(&s->tree->build_lock);
	return count(s, mm, true, fresh, NULL);
}

static void repaired(struct mtag_space *s)
{
	atomic64_inc(&s->repairs);
	atomic64_inc(&mtag_stat.repairs);
}

/**
 * mtag_walk_repair() - count a space anew if it missed an event
 * @s:		space
 *
 * Context: may sleep.
 * Return: 0, also when there was nothing to do or the process is exiting.
 */
int mtag_walk_repair(struct mtag_space *s)
{
	struct mm_struct *mm;
	int ret = 0;

	mtag_hook_verify();
	if (!READ_ONCE(s->dirty))
		return 0;
	mm = mtag_space_mm(s);
	if (!mm)
		return 0;
	mutex_lock(&s->tree->build_lock);
	if (READ_ONCE(s->dirty) && !(s->slow & MTAG_SLOW_PARKED)) {
		/* What is missed from here on makes it dirty again. */
		WRITE_ONCE(s->dirty, false);
		/* Forked while its parent was counted first: all it has is untagged. */
		ret = count(s, mm, s->untag, s->untag, NULL);
		if (ret)
			mtag_space_dirty(s);
		else
			repaired(s);
		s->untag &= !!ret;
	}
	mutex_unlock(&s->tree->build_lock);
	mmput(mm);
	return ret;
}

/**
 * mtag_walk_audit() - compare the counters with the page tables
 * @s:		space
 * @audit:	filled; pages
 *
 * Context: may sleep.
 * Return: 0; -ESRCH if the process is exiting, -EAGAIN if its pages would not
 * hold still, -ENOMEM, -EINTR.
 */
int mtag_walk_audit(struct mtag_space *s, struct mtag_audit *audit)
{
	struct mm_struct *mm;
	int ret;

	ret = mtag_walk_repair(s);
	if (ret)
		return ret;
	mm = mtag_space_mm(s);
	if (!mm)
		return -ESRCH;
	mutex_lock(&s->tree->build_lock);
	ret = s->live ? count(s, mm, false, false, audit) : -ESRCH;
	mutex_unlock(&s->tree->build_lock);
	mmput(mm);
	return ret;
}

/* ---- fork ---- */

/* Nothing of the parent's anonymous memory is kept from the child. */
static bool all_copied(struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	for_each_vma(vmi, vma)
		if (vma->vm_flags & (VM_DONTCOPY | VM_WIPEONFORK) && vma->anon_vma)
			return false;
	return true;
}

/* Counts what is mapped from files, and the anonymous pages among it. */
static void count_files(struct counter *c, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	for_each_vma(vmi, vma)
		if (!vma_is_anonymous(vma))
			mtag_walk_vma(&c->v, vma, vma->vm_start, vma->vm_end);
}

/* The parent's tags are the child's, if their sums are. Caller holds the parent's walk_lock. */
static bool take_parent(struct counter *c, struct mtag_space *parent, struct mm_struct *mm)
{
	struct mtag_accounts *acc = rcu_dereference_protected(parent->accounts, true);
	s64 anon = 0, swap = 0;
	struct mtag_sum sum;
	unsigned int tag;

	if (c->w.inexact || acc->nr_tags > c->w.nr_tags || parent->fork_events ||
	    c->v.s->fork_events || !parent->live || READ_ONCE(parent->dirty) ||
	    atomic_read(&parent->migrating))
		return false;
	for (tag = 0; tag < acc->nr_tags; tag++) {
		mtag_account_fold(acc, tag, &sum);
		anon += sum.nr[MTAG_ANON];
		swap += sum.nr[MTAG_SWAP];
		c->w.shadow[tag][MTAG_ANON] = sum.nr[MTAG_ANON];
		c->w.shadow[tag][MTAG_SWAP] = sum.nr[MTAG_SWAP];
	}
	return anon == mtag_compat_rss_new(mm, MM_ANONPAGES) &&
	       swap == mtag_compat_rss_new(mm, MM_SWAPENTS) &&
	       c->total[MTAG_FILE] == mtag_compat_rss_new(mm, MM_FILEPAGES) &&
	       c->total[MTAG_SHMEM] == mtag_compat_rss_new(mm, MM_SHMEMPAGES);
}

static bool fork_by_sums(struct counter *c, struct mtag_space *parent, struct mm_struct *oldmm,
			 struct mm_struct *mm)
{
	struct mtag_space *child = c->v.s;
	bool equal;

	if (!all_copied(oldmm))
		return false;
	count_files(c, mm);
	raw_spin_lock(&parent->walk_lock);
	raw_spin_lock_nested(&child->walk_lock, SINGLE_DEPTH_NESTING);
	equal = take_parent(c, parent, mm);
	if (equal) {
		take_shadow(c);
		WRITE_ONCE(child->slow, child->slow & ~MTAG_SLOW_WALK);
	}
	raw_spin_unlock(&child->walk_lock);
	raw_spin_unlock(&parent->walk_lock);
	return equal;
}

/**
 * mtag_walk_fork() - count a forked child before it runs
 * @parent:	space
 * @child:	space, new
 * @oldmm:	of @parent
 * @mm:		of @child, copied
 * @gfp:	of the shadow
 *
 * The child has the anonymous pages of its parent if nothing came or went in
 * either meanwhile, the kernel's counters of the child equal the parent's sums,
 * and no page is under migration: then the parent's counters are copied.
 * Otherwise the child's page tables are walked.
 *
 * Context: both mmap_locks held for writing; may sleep if @gfp may.
 * Return: 0 or an error, and then the child is not counted.
 */
int mtag_walk_fork(struct mtag_space *parent, struct mtag_space *child, struct mm_struct *oldmm,
		   struct mm_struct *mm, gfp_t gfp)
{
	int ret, migrating = atomic_read(&parent->migrating);
	struct counter c;

	/* Its first walk is yet to take the owners away of pages that the child has too. */
	if (!READ_ONCE(parent->live)) {
		child->untag = true;
		return -EAGAIN;
	}
	ret = counter_init(&c, child, gfp);
	if (ret)
		return ret;
	if (!fork_by_sums(&c, parent, oldmm, mm)) {
		memset(c.w.shadow, 0, c.w.nr_tags * sizeof(*c.w.shadow));
		c.w.inexact = false;
		c.w.cursor = 0;
		c.v.migrating = 0;
		count_begin(&c);
		count_mm(&c, mm);
		ret = count_end(&c, NULL);
		/* Some were zapped instead of restored; the child has those that are left. */
		atomic_sub(migrating - c.v.migrating, &parent->migrating);
	}
	kvfree(c.w.shadow);
	return ret;
}
