/* SPDX-License-Identifier: GPL-2.0 */
/* Text of the command line into values. All return 0 or more, or -EINVAL, -ERANGE; none prints. */
#ifndef MTAGCTL_PARSE_H
#define MTAGCTL_PARSE_H

#include <stdint.h>
#include <sys/types.h>

int parse_pid(const char *text, pid_t *pid);
int parse_count(const char *text, unsigned long *count);
int parse_seconds(const char *text, uint64_t *nanoseconds);
/* The next component of a tag's path: its bytes, 0 at the end, or -EINVAL, -ENAMETOOLONG. */
int parse_component(const char **path, const char **name);
int parse_path(const char *path); /* how many components, or -errno */

#endif
