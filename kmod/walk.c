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
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>
#include "charge.h"
#include "compat/compat.h"
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

/*
 * Hooks that began before now know nothing of the walk: lets them finish. Root may have thousands
 * of processes counted, one after the other; others shall not disturb all CPUs for their sake.
 */
static void wait_for_hooks(void)
{
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE))
		synchronize_rcu_expedited();
	else
		synchronize_rcu();
}

/* A stray's relatives must be counted anew, and those that are counted meanwhile once more. */
static void untag_begin(struct mtag_untagging *u, const struct mm_struct *mm)
{
	mtag_stray_untag_begin(u, mm);
	if (u->concerns)
		mtag_space_dirty_tree(u->tree);
}

static void untag_end(struct mtag_untagging *u)
{
	if (u->concerns)
		mtag_space_dirty_tree(u->tree);
	mtag_stray_untag_end(u);
}

static int count_once(struct mtag_counter *c, struct mm_struct *mm, struct mtag_audit *audit)
{
	struct mtag_space *s = c->v.s;
	struct mtag_untagging untagging;
	int ret;

	mtag_count_begin(c);
	wait_for_hooks();
	if (atomic_read(&s->migration.movers))
		mtag_charge_spoil(s);
	ret = mtag_walk_lock(mm);
	if (ret) {
		c->w.inexact = true;
		mtag_count_end(c, audit);
		return ret;
	}
	mtag_migrate_shifted(s);
	if (c->untag && c->fresh)
		untag_begin(&untagging, mm);
	mtag_count_mm(c, mm);
	if (audit) {
		memset(audit, 0, sizeof(*audit));
		audit->kernel = kernel_rss(mm);
	}
	ret = mtag_count_end(c, audit);
	if (c->untag && c->fresh)
		untag_end(&untagging);
	mmap_read_unlock(mm);
	return ret;
}

/* Caller holds build_lock and a reference on @mm. */
static int count_space(struct mtag_space *s, struct mm_struct *mm, bool untag, bool fresh,
		       struct mtag_audit *audit)
{
	struct mtag_counter c;
	int ret, i;

	for (i = 0; i < MTAG_WALK_ATTEMPTS; i++) {
		ret = mtag_count_init(&c, s, MTAG_GFP);
		if (ret)
			break;
		c.untag = untag;
		c.fresh = fresh;
		c.compares = audit;
		ret = count_once(&c, mm, audit);
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
 * Return: 0; -EAGAIN if its pages would not hold still, -ENOMEM, -EINTR.
 */
int mtag_walk_build(struct mtag_space *s, struct mm_struct *mm, bool fresh)
{
	lockdep_assert_held(&s->tree->build_lock);
	return count_space(s, mm, true, fresh, NULL);
}

static void count_repair(struct mtag_space *s)
{
	atomic64_inc(&s->repairs);
	atomic64_inc(&mtag_stat.repairs);
}

/**
 * mtag_walk_verify() - have what hooks missed found out
 *
 * Then every space is counted anew before the next answer, and those whose end was missed end.
 * Context: may sleep.
 */
void mtag_walk_verify(void)
{
	if (!mtag_hook_missed())
		return;
	mtag_space_lost(NULL, 1);
	mtag_space_dirty_all();
	mtag_end_reap();
}

/**
 * mtag_walk_repair() - count a space anew if it missed an event
 * @s:		space
 *
 * Context: may sleep.
 * Return: 0, also when there was nothing to do or the process is exiting;
 * -EAGAIN if its pages would not hold still, -ENOMEM, -EINTR.
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
		goto put;
	if (READ_ONCE(s->dirty) && READ_ONCE(s->mm) && !mtag_space_parked(s)) {
		/* What is missed from here on makes it dirty again. */
		WRITE_ONCE(s->dirty, false);
		/*
		 * Forked while its parent was counted first: all it has is untagged, but
		 * for what another has from before.
		 */
		ret = count_space(s, mm, s->birth.untag, s->birth.untag && !s->tree->parked, NULL);
		if (ret || READ_ONCE(s->unsure) || mtag_stray_untags(s->tree))
			mtag_space_dirty(s);
		if (!ret)
			count_repair(s);
		s->birth.untag &= !!ret;
	}
	mutex_unlock(&s->tree->build_lock);
put:
	mmput(mm);
	return ret;
}

/**
 * mtag_walk_audit() - compare the counters with the page tables
 * @s:		space
 * @mm:		its mm; the caller has a reference
 * @audit:	filled; pages
 *
 * Context: may sleep.
 * Return: 0; -ESRCH if it is not tracked any more, -EAGAIN if its pages would not
 * hold still, -ENOMEM, -EINTR.
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
