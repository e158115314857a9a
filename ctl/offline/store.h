/* SPDX-License-Identifier: GPL-2.0 */
/* The file that snapshot appends to, and its rotation. */
#ifndef MTAGCTL_OFFLINE_STORE_H
#define MTAGCTL_OFFLINE_STORE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct store - where samples go
 * @path:	the file, NULL for standard output
 * @most:	bytes that it may have before it becomes @path.1; 0 for no limit
 * @keep:	how many older files are kept
 */
struct store {
	const char *path;
	uint64_t most;
	unsigned long keep;
};

/*
 * Refuses a file to which nothing can be appended: it is no snapshot file, or ends within a sample.
 * Returns 0, or an exit status after a message.
 */
int store_check(const struct store *store);
/*
 * Appends a whole sample, or leaves the file as it is. Likewise. SIGXFSZ is ignored, and a second signal (stop.h) waits
 * while the file is changed.
 */
int store_append(const struct store *store, const char *text, size_t length);

#endif
