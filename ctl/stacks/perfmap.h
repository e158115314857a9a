/* SPDX-License-Identifier: GPL-2.0 */
/* The functions that a just-in-time compiler has made: /tmp/perf-PID.map, which many of them write for perf. */
#ifndef MTAGCTL_STACKS_PERFMAP_H
#define MTAGCTL_STACKS_PERFMAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct perfmap_function {
	uint64_t start, size;
	size_t number; /* of its line */
	char *name;
};

/* Initially all 0. */
struct perfmap {
	struct perfmap_function
		*functions; /* by their starts; of the same one, the last line first */
	size_t n, room;
};

/* Reads the file of the process, if there is one that only it or root can have written. 0 or -ENOMEM. */
int perfmap_open(struct perfmap *map, pid_t pid);
/* Reads lines "START SIZE NAME", numbers in hexadecimal; others are skipped. */
int perfmap_read(struct perfmap *map, FILE *in);
/* The function at @address, or NULL. */
const char *perfmap_find(const struct perfmap *map, uint64_t address);
void perfmap_clear(struct perfmap *map);

#endif
