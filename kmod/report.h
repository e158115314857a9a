/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A consistent read of a process; report.c.
 */
#ifndef MTAG_REPORT_H
#define MTAG_REPORT_H

#include "../include/uapi/linux/mtag.h"
#include "account.h"
#include "state.h"

/**
 * struct mtag_report - a process, read at one time
 * @space:	its space; reference
 * @uid:	effective user of the process; invalid if it is exiting
 * @bytes:	size of this report
 * @nr_tags:	entries of @sums and @virt
 * @lost:	counter of the space
 * @overflow:	counter of the space
 * @repairs:	counter of the space
 * @total:	sum of @sums, except the peak, which does not add up
 * @total_virt:	sum of @virt
 * @virt:	virtual size in bytes, by tag
 * @sums:	counters by tag
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
 * struct mtag_label - what a tag of a report is called
 * @parent:	id; 0 for a first-level tag
 * @len:	bytes of @name, without the NUL
 * @name:	last component of its path; as long as its finder is under RCU
 */
struct mtag_label {
	u32 parent;
	size_t len;
	const char *name;
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
bool mtag_report_label(const struct mtag_report *r, u32 tag, const u64 *counters,
		       struct mtag_label *label);
bool mtag_report_row(const struct mtag_report *r, u32 tag, struct mtag_row *row);
int mtag_report_one(struct mtag_space *s, u32 tag, u64 *counters);

/* The name and @value of the module's health counter number @i; NULL at the end. */
const char *mtag_report_health(unsigned int i, u64 *value);

#endif /* MTAG_REPORT_H */
