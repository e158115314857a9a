// SPDX-License-Identifier: GPL-2.0
/*
 * Walks the page tables of a live process, with exact results while it runs.
 *
 * A walk has a cursor. Pages below it have been counted into a shadow of the
 * counters, and page events there change the shadow as well. Pages above it
 * have yet to be counted. The cursor passes an address under its page-table
 * lock, which the events of that address hold too. So at the end the shadow is
 * exact, no matter how much was mapped and unmapped meanwhile.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>
#include "charge.h"
#include "compat/wait.h"
#include "count.h"
#include "end.h"
#include "hook.h"
#include "migrate.h"
#include "mtag.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "stray.h"
#include "walk.h"

static u64 kernel_rss(struct mm_struct *mm)
{
	return mtag_compat_rss(mm, MM_ANONPAGES) + mtag_compat_rss(mm, MM_FILEPAGES) +
	       mtag_compat_rss(mm, MM_SHMEMPAGES);
}

/**
 * mtag_walk_lock() - take mmap_lock for reading while no munmap() is under way
 * @mm:		the caller owes it an mmap_read_unlock()
 *
 * munmap() holds mmap_lock only for reading while it zaps mappings that have
 * left the tree of mappings, where a walk would not find their pages.
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

/*
 * A truncation holds the file's i_mmap_rwsem, and not mmap_lock, while it takes away the pages that
 * were copied on write.
 */
static int wait_for_truncation(const struct vm_area_struct *vma)
{
	struct rw_semaphore *lock;
	int ret;

	if (!vma->vm_file || !vma->anon_vma || (vma->vm_flags & VM_SHARED))
		return 0;
	lock = &vma->vm_file->f_mapping->i_mmap_rwsem;
	ret = down_write_killable(lock);
	if (!ret)
		up_write(lock);
	return ret;
}

/*
 * Calls that began before a process was tracked have not been noted. One that is at work now may
 * hold no more than the lock of one mapping, or of a file, while it frees or moves what the walk
 * counts: the first walk waits for it. A UFFDIO_MOVE may have been entered long ago and begin at
 * any time: all walks keep it from the mappings that it could move pages to.
 */
static int lock_out_unseen(const struct mtag_space *s, struct mm_struct *mm, bool *whole)
{
	VMA_ITERATOR(vmi, mm, 0);
	bool attached = READ_ONCE(s->birth.attached);
	bool first = attached && READ_ONCE(s->birth.untag), all = *whole;
	struct vm_area_struct *vma;
	int ret = 0;

	if (!first && !all && !(attached && MTAG_MOVES_BY_UFFD))
		return 0;
	for_each_vma(vmi, vma) {
		if (first)
			ret = mtag_vma_wait(vma) ?: wait_for_truncation(vma);
		if (!ret && (all || (attached && mtag_vma_may_receive(vma)))) {
			ret = mtag_vma_lock(vma);
			*whole = true;
		}
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/*
 * As mtag_walk_lock(), to count. With @whole set, which this may do, the lock stays one for
 * writing, and nobody has locked a mapping alone.
 */
static int count_lock(const struct mtag_space *s, struct mm_struct *mm, bool *whole)
{
	int ret = mmap_write_lock_killable(mm);

	if (ret)
		return ret;
	ret = lock_out_unseen(s, mm, whole);
	if (ret)
		mmap_write_unlock(mm);
	else if (!*whole)
		mmap_write_downgrade(mm);
	return ret;
}

/* Is there a mapping in [@addr, @end) whose page tables may be cut off? Context: mmap_lock. */
static bool may_be_cut(struct mm_struct *mm, unsigned long addr, unsigned long end)
{
	VMA_ITERATOR(vmi, mm, addr);
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);
	if (MTAG_CUTS_TABLES)
		for_each_vma_range(vmi, vma, end)
			if (mtag_vma_may_be_cut(vma))
				return true;
	return false;
}

/* Waits for tasks that have cut off page tables and may yet report their pages. */
static int lock_out_cutters(struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	int ret = mmap_write_lock_killable(mm);

	if (ret)
		return ret;
	for_each_vma(vmi, vma) {
		ret = mtag_vma_may_be_cut(vma) ? mtag_vma_wait(vma) : 0;
		if (ret) {
			mmap_write_unlock(mm);
			return ret;
		}
		cond_resched();
	}
	return 0;
}

/*
 * At the end of a walk of [@addr, @end): waits until it has heard of all that it may have missed.
 * Caller holds mmap_lock for reading, and has it for writing afterwards if @whole is set. If
 * killed, nothing is locked any longer.
 */
static int wait_for_cutters(struct mm_struct *mm, unsigned long addr, unsigned long end,
			    bool *whole)
{
	lockdep_assert_held(&mm->mmap_lock);
	if (*whole || !may_be_cut(mm, addr, end))
		return 0;
	mmap_read_unlock(mm);
	*whole = true;
	return lock_out_cutters(mm);
}

static void count_unlock(struct mm_struct *mm, bool whole)
{
	if (whole)
		mmap_write_unlock(mm);
	else
		mmap_read_unlock(mm);
}

/**
 * mtag_walk_unlock() - end a walk of [@addr, @end) when it has heard of all that it may have missed
 * @mm:		its mmap_lock is held for reading, and unlocked
 * @addr:	page-aligned
 * @end:	exclusive
 *
 * Context: may sleep.
 * Return: 0 or -EINTR.
 */
int mtag_walk_unlock(struct mm_struct *mm, unsigned long addr, unsigned long end)
{
	bool whole = false;
	int ret;

	lockdep_assert_held(&mm->mmap_lock);
	ret = wait_for_cutters(mm, addr, end, &whole);
	if (!ret)
		count_unlock(mm, whole);
	return ret;
}

/*
 * Wait for hooks that have not seen the walk. Expedited for root, which may count thousands of
 * processes in a row; other users must not disturb all CPUs.
 */
static void wait_for_hooks(void)
{
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE))
		synchronize_rcu_expedited();
	else
		synchronize_rcu();
}

/*
 * A stray shares pages with a tree. Have that tree recounted when untagging begins, and once more
 * when it ends, for spaces that were counted meanwhile.
 */
static void untag_begin(struct mtag_untagging *u, const struct mm_struct *mm)
{
	mtag_stray_untag_begin(u, mm);
	if (u->concerns)
		mtag_space_mark_tree_dirty(u->tree);
}

static void untag_end(struct mtag_untagging *u)
{
	if (u->concerns)
		mtag_space_mark_tree_dirty(u->tree);
	mtag_stray_untag_end(u);
}

static int count_once(struct mtag_counter *c, struct mm_struct *mm, bool whole,
		      struct mtag_audit *audit)
{
	struct mtag_space *s = c->v.s;
	struct mtag_untagging untagging;
	int ret, killed;

	mtag_count_begin(c);
	wait_for_hooks();
	if (atomic_read(&s->migration.movers))
		mtag_charge_spoil(s);
	ret = count_lock(s, mm, &whole);
	if (ret) {
		mtag_charge_spoil(s);
		mtag_count_end(c, audit);
		return ret;
	}
	mtag_migrate_shifted(s, NULL);
	if (c->untag && c->fresh)
		untag_begin(&untagging, mm);
	mtag_count_mm(c, mm);
	/* The process may hold up what follows for as long as it likes, and its tree with it. */
	if (c->untag && c->fresh)
		untag_end(&untagging);
	killed = wait_for_cutters(mm, 0, ULONG_MAX, &whole);
	if (killed)
		mtag_charge_spoil(s);
	if (audit) {
		memset(audit, 0, sizeof(*audit));
		audit->kernel = kernel_rss(mm);
	}
	ret = mtag_count_end(c, audit);
	if (!killed)
		count_unlock(mm, whole);
	return killed ?: ret;
}

/* Caller holds build_lock and a reference on @mm. */
static int count_space(struct mtag_space *s, struct mm_struct *mm, bool untag, bool fresh,
		       struct mtag_audit *audit)
{
	struct mtag_counter c;
	int ret, i;

	lockdep_assert_held(&s->tree->build_lock);
	for (i = 0; i < MTAG_WALK_ATTEMPTS; i++) {
		ret = mtag_count_init(&c, s, MTAG_GFP);
		if (ret)
			break;
		c.untag = untag;
		c.fresh = fresh;
		c.compares = audit;
		/* After several inexact tries, make the process wait for the walk. */
		ret = count_once(&c, mm, i >= MTAG_WALK_ATTEMPTS / 2, audit);
		kvfree(c.w.shadow);
		if (ret != -EAGAIN)
			break;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (atomic_read(&s->migration.movers))
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
 * Return: 0; -EAGAIN if no walk came out exact; -ENOMEM, -EINTR.
 */
int mtag_walk_build(struct mtag_space *s, struct mm_struct *mm, bool fresh)
{
	int ret;

	lockdep_assert_held(&s->tree->build_lock);
	ret = count_space(s, mm, true, fresh, NULL);
	if (!ret)
		WRITE_ONCE(s->birth.untag, false);
	return ret;
}

static void count_repair(struct mtag_space *s)
{
	atomic64_inc(&s->repairs);
	atomic64_inc(&mtag_stat.repairs);
}

/**
 * mtag_walk_verify() - check whether hooks missed events
 *
 * If so, recount every space before the next answer, and end the spaces whose end was missed.
 * Context: may sleep.
 */
void mtag_walk_verify(void)
{
	if (!mtag_hook_missed())
		return;
	mtag_space_add_lost(NULL, 1);
	mtag_space_mark_all_dirty();
	mtag_end_reap();
}

/**
 * mtag_walk_repair() - recount a space if it missed an event
 * @s:		space
 *
 * Context: may sleep.
 * Return: 0, also if there was nothing to do or the process is exiting;
 * -EAGAIN if no walk came out exact; -ENOMEM, -EINTR.
 */
int mtag_walk_repair(struct mtag_space *s)
{
	struct mm_struct *mm;
	int ret = 0;

	mtag_walk_verify();
	if (!READ_ONCE(s->dirty))
		return 0;
	mm = mtag_space_mmget(s);
	if (!mm)
		return 0;
	ret = mutex_lock_killable(&s->tree->build_lock);
	if (ret)
		goto put_mm;
	if (READ_ONCE(s->dirty) && READ_ONCE(s->mm) && !mtag_space_parked(s)) {
		/*
		 * An event missed from here on makes the space dirty again. Until they are counted
		 * the numbers are wrong.
		 */
		WRITE_ONCE(s->repairing, true);
		/* Pairs with mtag_space_wrong(), as does the next. */
		smp_store_release(&s->dirty, false);
		/*
		 * Forked before the first count of its parent ended: all its pages become
		 * untagged, except those that another process may have from before.
		 */
		ret = count_space(s, mm, s->birth.untag, s->birth.untag && !s->tree->parked, NULL);
		if (ret || READ_ONCE(s->unsure) || mtag_stray_untags(s->tree))
			mtag_space_mark_dirty(s);
		if (!ret) {
			count_repair(s);
			WRITE_ONCE(s->birth.untag, false);
		}
		/* After what made it dirty again. */
		smp_store_release(&s->repairing, false);
	}
	mutex_unlock(&s->tree->build_lock);
put_mm:
	mmput(mm);
	return ret;
}

/**
 * mtag_walk_audit() - compare the counters with the page tables
 * @s:		space
 * @mm:		its mm; the caller holds a reference
 * @audit:	filled, in pages
 *
 * Context: may sleep.
 * Return: 0; -ESRCH if it is no longer tracked; -EAGAIN if no walk came out
 * exact; -ENOMEM, -EINTR.
 */
int mtag_walk_audit(struct mtag_space *s, struct mm_struct *mm, struct mtag_audit *audit)
{
	int ret;

	ret = mtag_walk_repair(s);
	if (!ret)
		ret = mutex_lock_killable(&s->tree->build_lock);
	if (ret)
		return ret;
	ret = s->live ? count_space(s, mm, false, false, audit) : -ESRCH;
	mutex_unlock(&s->tree->build_lock);
	return ret;
}
