/* SPDX-License-Identifier: GPL-2.0 */
/* Processes and tags for the tests of top, with any numbers, but always the same. */
#ifndef CTL_TOP_H
#define CTL_TOP_H

#include "top/rows.h"

#define PAGE  4096ULL
#define PROCS 40
#define TAGS  12

static const char *const names[TAGS] = {"",    "[ksm]", "db",	 "cache", "block", "wal",
					"net", "net",	"[ksm]", "a",	  "B",	   "c"};
static const uint16_t parents[TAGS] = {[3] = 2, [4] = 3, [5] = 2};
static const char *const groups[] = {"/", "/system.slice/a.service", "/user.slice", "/a"};
static const char *const comms[] = {"postgres", "redis", "nginx", "Web Content", "redis"};

/* Any numbers, always the same. */
static inline uint64_t pages(unsigned int p, unsigned int t, unsigned int c, unsigned int when)
{
	return (p * 7919 + t * 104729 + c * 31 + when * (p + t)) % 1000 * PAGE;
}

/* Processes @from to @to - 1, each with @tags tags. Groups are known of all but every seventh. */
static inline void make(struct moment *moment, unsigned int from, unsigned int to,
			unsigned int tags, unsigned int when)
{
	*moment = (struct moment){.ns = 1000000000ULL * (1 + when * 2)};
	for (unsigned int p = from; p < to; p++) {
		struct proc *proc = snap_proc(&moment->snap, (pid_t)(p + 1) * 100, comms[p % 5]);

		if (p % 7)
			proc_set_cgroup(proc, groups[p % 4]);
		for (unsigned int t = 0; t < tags; t++) {
			struct tag *tag = proc_add_tag(proc, (uint16_t)t, parents[t], names[t]);

			for (unsigned int c = 0; c < MTAG_C_NR; c++)
				tag->c[c] = t == MTAG_ID_KSM && p % 2 ? 0 : pages(p, t, c, when);
		}
	}
	snap_finish(&moment->snap);
}

static inline void end(struct moment *moment)
{
	snap_clear(&moment->snap);
}

/* All pairs that the filter leaves. */
static inline void build(struct rows *rows, enum rows_by by, const char *filter,
			 const struct moment *now, const struct moment *before)
{
	rows_build(rows, &(struct choice){by, filter, true, false}, now, before);
}

static inline int64_t value(const struct rows *rows, const struct row *row, enum rows_sort sort)
{
	return sort == SORT_DELTA ? rows_delta(rows, row) : (int64_t)row->v[sort];
}

/* The rows that are listed, by a number. */
static inline bool in_order(const struct rows *rows, enum rows_sort sort, bool inverted)
{
	for (size_t i = 1; i < rows->n_list; i++) {
		size_t a = rows->list[i - 1], b = rows->list[i];
		int64_t x = value(rows, &rows->row[a], sort), y = value(rows, &rows->row[b], sort);

		if (x == y ? a > b : (x < y) != inverted)
			return false;
	}
	return true;
}

#endif
