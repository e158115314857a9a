/* SPDX-License-Identifier: GPL-2.0 */
/* Failures in words. Each prints one line and returns the exit status it means. */
#ifndef MTAGCTL_FAIL_H
#define MTAGCTL_FAIL_H

#include "kern.h"

/* kern_open() failed. */
int fail_open(int err);
/* The kernel refused to @verb process @pid. */
int fail_pid(const struct kern *kern, const char *verb, pid_t pid, int err);
/* The kernel refused something that is not about one process. */
int fail_all(const struct kern *kern, const char *what, int err);
int fail_memory(void);
/* A remark, not a failure: KERN_INCOMPLETE. */
void note_incomplete(void);

#endif
