/* SPDX-License-Identifier: GPL-2.0 */
/* A process in the background that hands in the unwind tables of what others map later. */
#ifndef MTAGCTL_STACKS_FOLLOW_H
#define MTAGCTL_STACKS_FOLLOW_H

#include <sys/types.h>

/*
 * Starts a process in the background that waits for the module to signal the eventfd @event, and then hands in the
 * tables of what @pid and its descendants have mapped. It ends with @pid. Returns 0 or a negative errno.
 */
int follow(pid_t pid, int event);

#endif
