/* SPDX-License-Identifier: GPL-2.0 */
/* Children, threads, and gates that they wait at. */
#ifndef MTAG_TESTS_PROCESS_H
#define MTAG_TESTS_PROCESS_H

#include "tap.h"

pid_t child(void);

/* Waits for a child. An exit status other than 0 is a failure. */
void reap(pid_t pid);

/* in_child { … }: the block runs in a forked child, which is waited for. */
#define in_child                                                                                   \
	for (pid_t pid_ = child(), once_ = 1; once_; once_ = 0, pid_ ? reap(pid_) : _exit(0))      \
		if (pid_ == 0)

/* A gate in shared memory: processes and threads wait until it is at their step. */
struct gate {
	atomic_int step;
};

struct gate *gate(void);
void open_gate(struct gate *g, int step);
void pass_gate(struct gate *g, int step);
void in_thread(void *(*run)(void *), void *arg);

#endif
