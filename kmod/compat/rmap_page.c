// SPDX-License-Identifier: GPL-2.0
/*
 * The rmap functions before 6.8: they take a page, small or the head of a huge
 * one.
 */
#include "compat.h"

#if !MTAG_SINCE(6, 8)
#include <linux/rmap.h>
#include <linux/sched/signal.h>
#include "adapt.h"

/* page_add_anon_rmap(page, vma, address, flags) */
MTAG_HOOK_FUNC(mtag_page_add_anon)
{
	bool huge = mtag_arg3(fregs) & (__force int)RMAP_COMPOUND;

	mtag_rmap_added((struct vm_area_struct *)mtag_arg1(fregs), (struct page *)mtag_arg0(fregs),
			mtag_arg2(fregs), huge ? HPAGE_PMD_NR : 1, parent_ip);
}

/* page_add_file_rmap(page, vma, compound) */
MTAG_HOOK_FUNC(mtag_page_add_file)
{
	mtag_rmap_added_file((struct vm_area_struct *)mtag_arg1(fregs),
			     (struct page *)mtag_arg0(fregs),
			     (u8)mtag_arg2(fregs) ? HPAGE_PMD_NR : 1, parent_ip);
}

/* What @t keeps to itself of the changes to @mm; counts who may. */
static long cached_by(const struct task_struct *t, const struct mm_struct *mm, int member,
		      int *users)
{
	if (READ_ONCE(t->mm) != mm)
		return 0;
	(*users)++;
	return READ_ONCE(t->rss_stat.count[member]);
}

/*
 * Each task keeps up to 64 faults' worth of changes to itself; the sum is
 * exact once no fault is under way. Few have tasks outside of one process:
 * all others there are need not be looked at.
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
