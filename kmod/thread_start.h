/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tags of new threads and processes; thread_start.c.
 */
#ifndef MTAG_THREAD_START_H
#define MTAG_THREAD_START_H

struct mtag_space;
struct task_struct;

void mtag_thread_start_fork(struct mtag_space *parent, struct mtag_space *child);
bool mtag_thread_start(struct mtag_space *s, struct task_struct *child, u32 own, gfp_t gfp);

#endif /* MTAG_THREAD_START_H */
