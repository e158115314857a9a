/* SPDX-License-Identifier: GPL-2.0 */
/* Failures in words, on stderr, and the exit status that each means. */
#ifndef MTAGCTL_FAIL_H
#define MTAGCTL_FAIL_H

#include <sys/types.h>

struct kern;

/* "mtagctl: …" and a newline. */
void fail_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Each of these prints one line and returns the exit status that it means. */

/* kern_open() failed. */
int fail_open(int err);
/* The device of the module cannot be opened: errno says why. */
int fail_device(void);
/* The kernel refused to @verb process @pid. */
int fail_pid(const struct kern *kern, const char *verb, pid_t pid, int err);
/* The kernel refused something that is not about one process. */
int fail_all(const struct kern *kern, const char *what, int err);
int fail_memory(void);
/* A remark on KERN_INCOMPLETE, which is no failure. */
void fail_incomplete(void);

#endif
