/* SPDX-License-Identifier: GPL-2.0 */
/* Parses words of the command line. All return -errno for an invalid word; none prints. */
#ifndef MTAGCTL_PARSE_H
#define MTAGCTL_PARSE_H

#include <stdint.h>
#include <sys/types.h>

int parse_pid(const char *text, pid_t *pid);
int parse_count(const char *text, unsigned long *count);
/* What parse_seconds() takes, for a message; the most is a year. */
#define PARSE_SECONDS "seconds, 0.01 to 31536000"
int parse_seconds(const char *text, uint64_t *nanoseconds);
/* A number of bytes, at least 1, or of KiB, MiB or GiB with a letter: "64M". */
int parse_size(const char *text, uint64_t *size);
/* "1/N": one of N, at least 1. */
int parse_one_in(const char *text, uint32_t *n);
/* Takes a component off @path. Returns its length, 0 at the end, -EINVAL or -ENAMETOOLONG. */
int parse_component(const char **path, const char **name);
/* Returns the number of components. */
int parse_path(const char *path);

#endif
