/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of /dev/mtag by a given descriptor, which another process may have opened, and passing descriptors from one
 * process to another.
 */
#ifndef MTAG_TESTS_HANDED_H
#define MTAG_TESTS_HANDED_H

#include "test.h"

/* ---- calls by a descriptor ---- */
int fd_call(int fd, unsigned long request, void *arg);

int fd_attach(int fd);

/* The tag, or -errno. */
int fd_make(int fd, uint32_t parent, const char *name);

int fd_path(int fd, uint32_t tag, char *buf, size_t len);
int fd_default(int fd, uint32_t tag);

/* ---- descriptors from one process to another ---- */
extern int pair[2];

void hand_over(int fd);
int taken(void);

#endif
