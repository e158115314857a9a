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
#include <asm/ibt.h>
#include "state.h"

/**
 * struct mtag_cpu - the word that a CPU caches between events
 * @task:	task whose current tag @word is, or NULL. Other CPUs may clear it, by cmpxchg()
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

u32 __noendbr mtag_thread_tag(struct mtag_space *s);
unsigned long mtag_thread_word(struct mtag_space *s);
int mtag_thread_register(struct mtag_space *s, unsigned long word, u32 *tag);
int mtag_thread_set(struct mtag_space *s, struct task_struct *task, u32 tag, bool own);
void mtag_thread_end(struct task_struct *task);
void mtag_thread_end_space(struct mtag_space *s, void (*ended)(struct mtag_space *s, u32 own));
void mtag_thread_exit(void);

/* For thread_start.c. Context: mtag_record_lock; of the last one, any but NMI. */
struct mtag_pin;
struct mtag_thread;

bool mtag_thread_is_closed(const struct mtag_space *s);
void mtag_thread_enter(struct mtag_thread *t, struct mtag_space *s);
struct mtag_pin *mtag_thread_leave(struct mtag_thread *t);
void mtag_thread_released(const struct task_struct *task, struct mtag_pin *pin);

#endif /* MTAG_THREAD_H */
