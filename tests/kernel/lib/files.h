/* SPDX-License-Identifier: GPL-2.0 */
/* Reading and writing the kernel's files, and running commands. */
#ifndef MTAG_TESTS_FILES_H
#define MTAG_TESTS_FILES_H

#include "tap.h"

#define SLURP_MAX (4 * MIB)

/*
 * Room for SLURP_MAX bytes of text. In base pages: smaps now and then misses a huge page that migrates, and the
 * truth about this process must not depend on what the truth is read into.
 */
char *text_room(void);

/* Returns the whole file, in a buffer that the next call reuses; NULL: it cannot be read. */
char *slurp(const char *path);

PRINTF(2, 3) int spew(const char *path, const char *format, ...);

/* Runs a command in a shell; returns its exit status. */
PRINTF(1, 2) int sh(const char *format, ...);

/* Returns the number after "name" at the beginning of a line; UINT64_MAX: there is none. */
uint64_t field(const char *text, const char *name);

uint64_t file_field(const char *path, const char *name);

/* How often an eventfd that does not block was signalled since the last call. */
uint64_t signals(int fd);

#define vmstat(name) file_field("/proc/vmstat", name)
#define health(name) file_field("/sys/kernel/debug/mtag/health", name)

#endif
