/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's log says from some moment on. */
#ifndef MTAG_TESTS_KLOG_H
#define MTAG_TESTS_KLOG_H

#include "test.h"

/* From now on. The caller closes it. */
int log_open(void);

/* Does the log say that the OOM killer killed the process? Reads on from where it was. */
bool log_says_oom(int fd, pid_t pid);

#endif
