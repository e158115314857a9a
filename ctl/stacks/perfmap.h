/* SPDX-License-Identifier: GPL-2.0 */
/* The functions that a just-in-time compiler has made: /tmp/perf-PID.map, which many of them write for perf. */
#ifndef MTAGCTL_STACKS_PERFMAP_H
#define MTAGCTL_STACKS_PERFMAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* A line. */
struct perfmap_function {
	uint64_t start, end;
	size_t number;
	char *name;
};

/* Addresses from @start up to @end, of which no newer line says anything. */
struct perfmap_piece {
	uint64_t start, end;
	const char *name;
};

/* Initially all 0. */
struct perfmap {
	struct perfmap_function *functions; /* by their starts */
	size_t n, room;
	struct perfmap_piece *pieces; /* by address */
	size_t n_pieces;
};

/*
 * Reads the file of the process, below its root directory @root, if there is one that only it or
 * root can have written. 0 or -ENOMEM.
 */
int perfmap_open(struct perfmap *map, pid_t pid, int root);
/* Reads lines "START SIZE NAME", numbers in hexadecimal; others are skipped. Once for each map. */
int perfmap_read(struct perfmap *map, FILE *in);
/* The function at @address that was compiled last, or NULL. */
const char *perfmap_find(const struct perfmap *map, uint64_t address);
void perfmap_clear(struct perfmap *map);

#endif
