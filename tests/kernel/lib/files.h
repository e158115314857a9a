/* SPDX-License-Identifier: GPL-2.0 */
/* Reading and writing the kernel's files, and running commands. */
#ifndef MTAG_TESTS_FILES_H
#define MTAG_TESTS_FILES_H

#include "tap.h"

#define SLURP_MAX (4 * MIB)

/* The whole file, in a buffer of ours that the next call reuses; NULL: cannot be read. */
char *slurp(const char *path);

PRINTF(2, 3) int spew(const char *path, const char *format, ...);

/* sh: its exit status. */
PRINTF(1, 2) int sh(const char *format, ...);

/* The number after "name" at a line's beginning; UINT64_MAX: there is none. */
uint64_t field(const char *text, const char *name);

uint64_t file_field(const char *path, const char *name);

#define vmstat(name) file_field("/proc/vmstat", name)
#define health(name) file_field("/sys/kernel/debug/mtag/health", name)

#endif
