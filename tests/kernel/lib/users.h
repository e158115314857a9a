/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Becoming somebody, for good, for the calling process: another user, one with fewer capabilities,
 * root of a namespace, one whose system calls are filtered.
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

/* Dumpable all the same, as a process that its user has started. */
void user(uid_t uid);

void user_with(uid_t uid, int cap);

/* Root of a user namespace that the user @uid makes, with others of @flags. */
void userns(uid_t uid, int flags);

/* The rest of the caller runs as the first process of a pid namespace; who called ends with it. */
void pidns(void);

/* /proc, as it looks from the pid namespace. */
void own_proc(void);

/* Every call is allowed, but by a filter. */
void filtered(void);

#endif
