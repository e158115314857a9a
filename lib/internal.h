/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside libmtag. dev.c talks to the module, thread.c keeps the threads' words,
 * child.c remembers tags, report.c has the calls that are one ioctl.
 *
 * Everything may run in a signal handler that interrupts anything here: shared
 * state is changed by single atomic operations, no lock is taken, nothing is
 * allocated. System calls go through syscall(2), so that no call of ours is a
 * cancellation point that would leave a descriptor behind.
 */
#ifndef MTAG_LIB_INTERNAL_H
#define MTAG_LIB_INTERNAL_H

#define MTAG_NO_INLINE
#include <mtag.h>

#define MTAG_TLS __thread __attribute__((tls_model("initial-exec")))

/* One ioctl; the process is attached first if that was never tried. 0 or -errno, errno kept. */
int mtag__ioctl(unsigned long cmd, void *arg);

/* Attached? Tries to, once in the life of the process. 0 or -errno, errno kept. */
int mtag__attached(void);

/* Counts a failure that mtag_failures() reports. */
void mtag__failed(void);

#endif
