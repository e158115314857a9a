/* SPDX-License-Identifier: GPL-2.0 */
/* Children, those that stand still or are talked to, threads, and gates that they wait at. */
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

/* ---- processes that do not run, and can be looked at ---- */
void freeze(void);
void await_frozen(pid_t pid);
/* Kills a child. */
void end_child(pid_t pid);

/* frozen_child(pid) { … }: a forked child that runs the block and then stops; end_child() ends it. */
#define frozen_child(pid)                                                                          \
	for (int once_ = ((pid) = child(), 1); once_;                                              \
	     once_ = 0, (pid) ? await_frozen(pid) : freeze())                                      \
		if (!(pid))

/* A program that is talked to by its standard input and output. */
struct spoken {
	pid_t pid;
	FILE *in, *out;
};

struct spoken speak_to(char *const argv[]);

/* From here on the calling thread, and whom it forks, run on the first CPU alone. */
void run_on_first_cpu(void);

/* A gate in shared memory: processes and threads wait until it is at their step. */
struct gate {
	atomic_int step;
};

struct gate *gate(void);
void open_gate(struct gate *g, int step);
void pass_gate(struct gate *g, int step);
void in_thread(void *(*run)(void *), void *arg);

#endif
