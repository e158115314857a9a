/* SPDX-License-Identifier: GPL-2.0 */
/* What watch does with a file of samples. */
#ifndef MTAGCTL_CMD_PLAY_H
#define MTAGCTL_CMD_PLAY_H

#include "format/fmt.h"
#include "model.h"

/*
 * Prints the tags of a process in each sample that has it, at most @count of them, 0 for all; what
 * changed is against the one before. Returns the exit status.
 */
int play_file(const struct fmt *fmt, bool json, const char *path, pid_t pid, unsigned long count);

#endif
