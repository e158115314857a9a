/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a task is to do later, on its way back to user space; later.c.
 */
#ifndef MTAG_LATER_H
#define MTAG_LATER_H

#include <linux/sched.h>
#include <linux/types.h>

/**
 * struct mtag_later - something that a task is to do
 * @work:	of the task
 * @run:	does it, in process context, and may sleep; frees this. @runs is false
 *		when the module goes before the task has got there: then @run only frees
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
