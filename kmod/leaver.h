/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks that are about to take a page away for migration, and from where.
 */
#ifndef MTAG_LEAVER_H
#define MTAG_LEAVER_H

#include <linux/types.h>

struct task_struct;
struct vm_area_struct;

/**
 * struct mtag_leaver - a task that is about to take a page away from a mapping
 * @task:	only compared; NULL: the place is free
 * @vma:	mapping
 * @addr:	address in it
 * @ip:		in the hooked function, as of a caller of rmap
 * @turn:	the higher, the later it came
 * @epoch:	of the hooks, when it came: a task that finds no page keeps its place until it comes
 *		again or the place is needed. By then the hooks may have been removed and the
 *		mapping freed.
 *
 * All under the lock of leaver.c.
 */
struct mtag_leaver {
	const struct task_struct *task;
	struct vm_area_struct *vma;
	unsigned long addr;
	unsigned long ip;
	unsigned int turn;
	unsigned int epoch;
};

bool mtag_leaver_enter(struct vm_area_struct *vma, unsigned long addr, unsigned long ip);
bool mtag_leaver_get(struct mtag_leaver *leaver);
void mtag_leaver_leave(void);

#endif /* MTAG_LEAVER_H */
