/* SPDX-License-Identifier: GPL-2.0 */
/* The lines of a snapshot file: docs/snapshot.md describes them. */
#ifndef MTAGCTL_FORMAT_SNAPSHOT_H
#define MTAGCTL_FORMAT_SNAPSHOT_H

#include "format/json.h"
#include "model.h"

#define SNAPSHOT_VERSION 1
#define SNAPSHOT_STACKS	 2 /* the version of a sample with stacks */

/* What a sample has at most, or no reader takes it. */
#define SNAPSHOT_TAGS_MOST	 1000000
#define SNAPSHOT_NAMES_MOST	 (64 << 20)  /* bytes of the tags' paths */
#define SNAPSHOT_STACKS_MOST	 (256 << 20) /* bytes of the lines of stacks */
#define SNAPSHOT_STACK_LINE_MOST (4 << 20)   /* bytes of one of them */

/**
 * struct origin - when and where a sample was taken
 * @time_ms:	since 1970
 * @host:	the host's name
 * @boot_id:	of the host's kernel since it started; "" if unknown
 * @kernel:	its release
 */
struct origin {
	uint64_t time_ms;
	char host[256];
	char boot_id[64];
	char kernel[256];
};

/* What a sample had no room for. */
struct snapshot_left {
	size_t procs;
	uint64_t stacks;
};

/*
 * Prints a sample: its header, a line for each process and tag, and stack if there are any, its end. Where it would have
 * more than it may, those processes are left out whose tags take most. 0 or -ENOMEM.
 */
int snapshot_print(FILE *out, const struct origin *origin, const struct snap *snap,
		   struct snapshot_left *left);

#endif
