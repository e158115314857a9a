/* SPDX-License-Identifier: GPL-2.0 */
/* Where a command that prints processes and tags has them from: the kernel, or a snapshot file. */
#ifndef MTAGCTL_OFFLINE_SOURCE_H
#define MTAGCTL_OFFLINE_SOURCE_H

#include "offline/read.h"

/**
 * struct source - what the options say
 * @from:	a snapshot file, NULL for the kernel
 * @sample:	which of its samples, from 1; 0: the last
 * @shares:	USS and PSS are wanted, too
 * @stacks:	stacks are wanted, too: struct proc's
 * @resident:	and with them what of the objects of each is resident
 * @heaps:	heaps are wanted, too, of processes that have a heap view: struct proc's
 * @older:	of the kernel's only pages first touched at least so many seconds ago
 * @addresses:	and of them no functions, only places in files
 * @read:	it answered, perhaps not for all processes; by source_read()
 * @origin:	when and where the last sample was taken; likewise
 */
struct source {
	const char *from;
	unsigned long sample;
	bool shares;
	bool stacks;
	bool resident;
	bool heaps;
	uint32_t older;
	bool addresses;
	bool read;
	struct origin origin;
};

/* The options, for the end of a command's own; the values are none of getopt's letters. */
enum { SOURCE_FROM = 1000, SOURCE_SAMPLE, SOURCE_PSS };
/* clang-format off */
#define SOURCE_LONGS                                                                       \
	{"from", required_argument, NULL, SOURCE_FROM},                                    \
	{"sample", required_argument, NULL, SOURCE_SAMPLE}
#define SOURCE_LONG_PSS {"pss", no_argument, NULL, SOURCE_PSS}
/* clang-format on */

/* Takes one of these options. Returns false after an error message. */
bool source_option(struct source *source, int opt, const char *value);

/*
 * Reads the @n processes @pids, or with @n 0 all. Processes that cannot be read are reported and left
 * out. Returns the exit status. Finishes @snap, also after an error.
 */
int source_read(struct source *source, pid_t *pids, size_t n, struct snap *snap);
/*
 * Likewise all samples of a file, unless the options choose one; of the kernel, the present one. @taker
 * gets each, and @snap is the last. A process is missing if no sample has it.
 */
int source_read_series(struct source *source, pid_t *pids, size_t n, const struct taker *taker,
		       struct snap *snap);

#endif
