// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the kernel's own counters of a process's pages.
 */
#include <linux/sched/signal.h>
#include "compat.h"

#if MTAG_SINCE(6, 2)
long mtag_compat_rss(struct mm_struct *mm, int member)
{
	return percpu_counter_sum(&mm->rss_stat[member]);
}
#else
/* The changes to @mm that @t has cached. Counts in @users the tasks that may cache some. */
static long cached_by(const struct task_struct *t, const struct mm_struct *mm, int member,
		      int *users)
{
	if (READ_ONCE(t->mm) != mm)
		return 0;
	(*users)++;
	return READ_ONCE(t->rss_stat.count[member]);
}

/*
 * Each task caches up to 64 faults' worth of changes; the sum is exact while no
 * fault is under way. Few mms have users outside of one process, so all tasks
 * are scanned only if the owner's threads do not account for every user.
 */
long mtag_compat_rss(struct mm_struct *mm, int member)
{
	struct task_struct *p = NULL, *t;
	int users = 1;	/* the caller's reference */
	long cached = 0;

	rcu_read_lock();
#ifdef CONFIG_MEMCG
	p = rcu_dereference(mm->owner);
	if (p)
		for_each_thread(p, t)
			cached += cached_by(t, mm, member, &users);
#endif
	if (!p || users < atomic_read(&mm->mm_users)) {
		cached = 0;
		for_each_process_thread(p, t)
			cached += cached_by(t, mm, member, &users);
	}
	rcu_read_unlock();
	return atomic_long_read(&mm->rss_stat.count[member]) + cached;
}
#endif
