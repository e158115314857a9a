/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that a task runs later, on its way back to user space; later.c.
 */
#ifndef MTAG_LATER_H
#define MTAG_LATER_H

#include <linux/sched.h>
#include <linux/types.h>

/**
 * struct mtag_later - work that a task runs later
 * @work:	queued to the task
 * @run:	runs in process context, may sleep, and frees this structure. @runs is false
 *		when the module is unloaded before the task got there: @run then only frees,
 *		under RCU, and must not sleep
 */
struct mtag_later {
	struct callback_head work;
	void (*run)(struct mtag_later *later, bool runs);
};

bool mtag_later(struct task_struct *task, struct mtag_later *later,
		void (*run)(struct mtag_later *later, bool runs));
int mtag_later_init(void);
void mtag_later_exit(void);

#endif /* MTAG_LATER_H */
