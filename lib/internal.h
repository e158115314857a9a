/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside libmtag. dev.c talks to the module, attach.c has the process tracked,
 * thread.c keeps the threads' words, child.c finds tags by name, report.c has the
 * calls that are one ioctl. netlink.c and sample.c read all tags at one moment;
 * out.c, json.c, dot.c and tree.c print them; write.c and environment.c say where.
 *
 * All functions up to the sample may run in a signal handler that interrupts any
 * of them: shared state is changed by single atomic operations, and no function
 * takes a lock or allocates. System calls go through syscall(2), so that none is
 * a cancellation point, which would leak a descriptor.
 */
#ifndef MTAG_LIB_INTERNAL_H
#define MTAG_LIB_INTERNAL_H

#define MTAG_NO_INLINE
#include <mtag.h>

#define MTAG_TLS __thread __attribute__((tls_model("initial-exec")))

/*
 * Does one ioctl. Returns 0 or -errno; errno is kept. Sets *@gone if the module does not know this
 * process.
 */
int mtag__call_device(unsigned long cmd, void *arg, bool *gone);

/* Does one ioctl, after attaching if that was never tried. Returns 0 or -errno; errno is kept. */
int mtag__ioctl(unsigned long cmd, void *arg);

/* Attaches, once in the life of the process. Returns 0 if attached, or -errno; errno is kept. */
int mtag__attached(void);

/* Counts a failure for mtag_failures(). */
void mtag__failed(void);

#endif
