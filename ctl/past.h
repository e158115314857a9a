/* SPDX-License-Identifier: GPL-2.0 */
/* What mtagctl knows of processes that have ended. */
#ifndef MTAGCTL_PAST_H
#define MTAGCTL_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "uapi/linux/mtag.h"

#define PAST_NR (MTAG_C_PEAK + 1) /* counters: those by MTAG_C_* up to the peak */

/**
 * struct past_tag - a tag of an ended process
 * @path:	the whole path; "" for untagged
 * @c:		its last values
 */
struct past_tag {
	uint16_t id;
	char *path;
	uint64_t c[PAST_NR];
};

/**
 * struct past - an ended process
 * @id:		the kernel's; ascending
 * @comm:	any bytes except NUL
 * @status:	as wait(2) gives it
 * @oom:	the OOM killer killed it, and found it alive
 * @reaped:	its memory was being taken away before the numbers were read
 * @complete:	no event was missed
 * @total:	sums over all tags; the peak is that of the process
 * @others:	sums over the tags that the kernel left out, and the highest of their peaks
 * @n_others:	how many these are
 * @tags:	the largest first after past_finish()
 */
struct past {
	uint64_t id;
	pid_t pid;
	char comm[64];
	uint64_t ended_ns, ran_ns;
	int status;
	bool oom, reaped, complete;
	uint64_t lost, overflow, repairs;
	uint64_t total[PAST_NR];
	uint64_t others[PAST_NR];
	unsigned int n_others;
	struct past_tag *tags;
	size_t n_tags;
	size_t room;
};

struct ledger {
	struct past *pasts; /* in the order in which they ended */
	size_t n;
	size_t room;
};

/* Out of memory, these return NULL and leave the ledger valid. */

/* The last process, if it has that id; otherwise a new one. */
struct past *ledger_past(struct ledger *ledger, uint64_t id);
struct past_tag *past_add_tag(struct past *past, uint16_t id, const char *path);

/* Sorts the tags of each process. */
void ledger_finish(struct ledger *ledger);
void ledger_clear(struct ledger *ledger);

uint64_t past_rss(const uint64_t c[PAST_NR]);

#endif
