/* SPDX-License-Identifier: GPL-2.0 */
/* The lines of a snapshot file: docs/snapshot.md describes them. */
#ifndef MTAGCTL_FORMAT_SNAPSHOT_H
#define MTAGCTL_FORMAT_SNAPSHOT_H

#include "format/json.h"
#include "model.h"

#define SNAPSHOT_VERSION 1
#define SNAPSHOT_STACKS	 2 /* the version of a sample with stacks */

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

/* Prints a sample: its header, a line for each process and tag, and stack if there are any, its end. 0 or -ENOMEM. */
int snapshot_print(FILE *out, const struct origin *origin, const struct snap *snap);

#endif
