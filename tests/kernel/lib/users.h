/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns the calling process, irrevocably, into that of another user, one with fewer capabilities, root of a
 * namespace, or one whose system calls are filtered.
 */
#ifndef MTAG_TESTS_USERS_H
#define MTAG_TESTS_USERS_H

#include "test.h"
#include <linux/capability.h>
#include <linux/seccomp.h>

#define ALICE 1001
#define BOB   1002

void caps(uint64_t set);
uint64_t all_caps(void);

/* The process stays dumpable, as one that the user has started is. */
void user(uid_t uid);

void user_with(uid_t uid, int cap);

/* Becomes root of a user namespace that the user @uid creates together with the namespaces of @flags. */
void userns(uid_t uid, int flags);

/* The rest of the program runs as the first process of a pid namespace. The caller waits, and ends with it. */
void pidns(void);

/* Mounts the /proc of the pid namespace. */
void own_proc(void);

/* Installs a seccomp filter that allows every call. */
void filtered(void);

#endif
