/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Owners of copies, by copy-on-write and by uprobes; cow.c.
 */
#ifndef MTAG_COW_H
#define MTAG_COW_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <asm/ibt.h>
#include "caller.h"
#include "state.h"

/**
 * struct mtag_cow_note - a copy-on-write between its two events
 * @task:	task that added the copy
 * @page:	the copy; NULL once the original is removed
 * @space:	space of @page
 * @addr:	user address of @page
 * @tag:	tag that @page is charged to meanwhile
 * @turn:	sequence number among the copies on this CPU
 */
struct mtag_cow_note {
	struct task_struct *task;
	const struct page *page;
	struct mtag_space *space;
	unsigned long addr;
	u32 tag;
	u32 turn;
};

/*
 * Only the page-table lock is held between the two events. On PREEMPT_RT other
 * tasks may run on this CPU meanwhile, and copy, too.
 */
#define MTAG_COPIES	(IS_ENABLED(CONFIG_PREEMPT_RT) ? 8 : 1)

/**
 * struct mtag_cow_cpu - copies under way on a CPU
 * @turn:	number of copies begun
 * @copies:	notes of copies that have not ended
 *
 * Used with preemption disabled.
 */
struct mtag_cow_cpu {
	u32 turn;
	struct mtag_cow_note copies[MTAG_COPIES];
};

DECLARE_PER_CPU(struct mtag_cow_cpu, mtag_cow_cpu);

void __noendbr mtag_cow_begin(struct mtag_space *s, struct page *page, unsigned long addr, u32 tag);
void __noendbr mtag_cow_end(struct mtag_space *s, struct mm_struct *mm, const struct page *original,
			    unsigned long addr, enum mtag_caller caller);

#endif /* MTAG_COW_H */
