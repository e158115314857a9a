/* SPDX-License-Identifier: GPL-2.0 */
/* A profile as pprof reads it. */
#ifndef MTAGCTL_FORMAT_PPROF_H
#define MTAGCTL_FORMAT_PPROF_H

#include "format/fmt.h"
#include "model.h"

/* Prints a binary file. 0 or -ENOMEM. */
int pprof_print(const struct fmt *fmt, const struct snap *snap);

/*
 * Likewise of a heap, whose values the tags have in place of these counters: what is alive, and what of that is on
 * pages that are there.
 */
enum {
	PPROF_INUSE_OBJECTS = MTAG_C_ANON,
	PPROF_INUSE_SPACE = MTAG_C_FILE,
	PPROF_INUSE_RESIDENT = MTAG_C_SHMEM
};
int pprof_print_heap(const struct fmt *fmt, const struct snap *snap);

#endif
