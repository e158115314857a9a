/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The processes that readers ask about: one for every case in the rules of who may read a process. Each is
 * tracked, has a secret tag, and waits.
 */
#ifndef MTAG_TESTS_TARGETS_H
#define MTAG_TESTS_TARGETS_H

#include "users.h"

extern char room[];

enum who {
	OF_ALICE,
	OF_BOB,
	OF_ROOT,
	UNDUMPABLE,
	SETUID,
	UNREADABLE,
	DROPPED,
	BARE,
	IN_USERNS,
	IN_PIDNS,
	ROOT_IN_PIDNS,
	STRICT,
	TWO_USERS,
	ZOMBIE,
	KTHREAD,
	TARGETS
};

extern const char *const names[TARGETS];
extern pid_t targets[TARGETS];

void secret_of(char *buf, size_t len, int who);

/* Attaches, and puts all of the caller under a tag that others should not see. */
void attach(const char *secret);
void start_targets(void);

/* Has the target end; of TWO_USERS' threads the main one first. */
void end_target(int who);

#endif
