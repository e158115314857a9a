/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Totals, parameters, and the workqueue; stat.c.
 */
#ifndef MTAG_STAT_H
#define MTAG_STAT_H

#include <linux/atomic.h>
#include <linux/workqueue.h>

/* Totals since the module was loaded; shown by debugfs health. */
struct mtag_stat {
	atomic_t tracked;	/* spaces tracked now */
	atomic64_t ended;	/* spaces that died */
	atomic64_t drift;	/* pages left over in spaces that died */
	atomic64_t dirty_ended;	/* spaces that died dirty, before a walk could repair them */
	atomic64_t lost;	/* events that could not be recorded */
	atomic64_t overflow;	/* tags and processes refused because of a limit */
	atomic64_t repairs;	/* walks that repaired counters */
	atomic64_t bad_word;	/* first touches under an id that is not a tag */
	atomic64_t foreign;	/* rmap calls from callers that mtag does not know */
	atomic64_t memory;	/* bytes the module holds */
	atomic64_t history;	/* ended processes that are remembered */
	atomic64_t history_dropped;	/* forgotten to stay within the bound */
	atomic64_t history_lost;	/* could not be remembered */
	atomic64_t stack_lost;	/* stacks for which there was no room */
};

extern struct mtag_stat mtag_stat;
extern unsigned int mtag_max_tags, mtag_max_processes, mtag_max_ranges, mtag_max_memory_kb;
extern unsigned int mtag_linger_ms, mtag_max_stacks, mtag_unwind_kb;
extern bool mtag_count_down, mtag_force_kprobes, mtag_force_ftrace, mtag_direct, mtag_track_all;

extern struct workqueue_struct *mtag_wq;

#endif /* MTAG_STAT_H */
