/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads and their current tags; see mtag.h for what the presenting files use.
 */
#ifndef MTAG_THREAD_H
#define MTAG_THREAD_H

#include "compat/compat.h"
#include "hook.h"
#include "mtag.h"
#include "rmap.h"

void mtag_thread_fork(struct mtag_space *parent, struct mtag_space *child);
void mtag_thread_start(struct mtag_space *s, struct task_struct *child, gfp_t gfp);
void mtag_thread_end(struct task_struct *task);
void mtag_thread_end_space(struct mtag_space *s);
void mtag_thread_exit(void);

#endif /* MTAG_THREAD_H */
