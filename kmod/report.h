/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one consistent read of a process; report.c.
 */
#ifndef MTAG_REPORT_H
#define MTAG_REPORT_H

#include "../include/uapi/linux/mtag.h"
#include "account.h"
#include "state.h"

/**
 * struct mtag_report - a process, read at one time
 * @space:	reference
 * @uid:	the effective one of the process; invalid when it is exiting
 * @bytes:	of this
 * @nr_tags:	in @sums and @virt
 * @lost:	of the space
 * @overflow:	of the space
 * @repairs:	of the space
 * @total:	of @sums, without the peak, which is no sum
 * @total_virt:	bytes, of @virt
 * @virt:	bytes of virtual size, by tag
 * @sums:	by tag
 */
struct mtag_report {
	struct mtag_space *space;
	kuid_t uid;
	size_t bytes;
	unsigned int nr_tags;
	u64 lost, overflow, repairs;
	struct mtag_sum total;
	u64 total_virt;
	u64 *virt;
	struct mtag_sum sums[];
};

/**
 * struct mtag_row - one tag of a report
 * @id:		the tag
 * @parent:	id; 0 for a first-level tag
 * @name:	last component of its path
 * @counters:	by MTAG_C_*, bytes and calls
 */
struct mtag_row {
	u32 id;
	u32 parent;
	char name[MTAG_NAME_MAX + 1];
	u64 counters[MTAG_C_NR];
};

/* Fills counters[MTAG_C_NR] with the bytes and calls of one tag. */
void mtag_report_counters(const struct mtag_report *r, u32 tag, u64 *counters);

struct mtag_report *mtag_report_get(struct mtag_space *s);
void mtag_report_put(struct mtag_report *r);
bool mtag_report_row(const struct mtag_report *r, u32 tag, struct mtag_row *row);
int mtag_report_one(struct mtag_space *s, u32 tag, u64 *counters);

/* One of the module's health counters by index; NULL name at the end. */
const char *mtag_report_health(unsigned int i, u64 *value);

#endif /* MTAG_REPORT_H */
