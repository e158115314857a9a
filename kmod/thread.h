/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads and their current tags; thread.c.
 */
#ifndef MTAG_THREAD_H
#define MTAG_THREAD_H

#include <linux/gfp_types.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include "state.h"

/**
 * struct mtag_cpu - the word that a CPU caches between events
 * @task:	task whose current tag @word is
 * @space:	space that @word is valid for
 * @word:	&space->default_tag, or the word of @task
 *
 * Used with preemption disabled.
 */
struct mtag_cpu {
	struct task_struct *task;
	struct mtag_space *space;
	const u32 *word;
};

DECLARE_PER_CPU(struct mtag_cpu, mtag_cpu);

u32 mtag_thread_tag(struct mtag_space *s);
unsigned long mtag_thread_word(struct mtag_space *s);
int mtag_thread_register(struct mtag_space *s, unsigned long word, u32 *tag);
int mtag_thread_set(struct mtag_space *s, struct task_struct *task, u32 tag, bool own);
void mtag_thread_fork(struct mtag_space *parent, struct mtag_space *child);
bool mtag_thread_start(struct mtag_space *s, struct task_struct *child, u32 own, gfp_t gfp);
void mtag_thread_end(struct task_struct *task);
void mtag_thread_end_space(struct mtag_space *s, void (*ended)(struct mtag_space *s, u32 own));
void mtag_thread_exit(void);

#endif /* MTAG_THREAD_H */
