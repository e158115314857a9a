/* SPDX-License-Identifier: GPL-2.0 */
/* A process of its own for reading what others wrote: files may be made to take all memory, or for ever. */
#ifndef MTAGCTL_CONFINE_H
#define MTAGCTL_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct confined - a process that reads for us
 * @pid:	its
 * @socket:	to it, of a type of socketpair(2)
 */
struct confined {
	pid_t pid;
	int socket;
};

/*
 * Forks. Returns the process's id, or a negative errno; and 0 in the new process. That one has its
 * end in @confined and, unless it is -1, the descriptor @keep, but no other of ours, and no
 * terminal. It may use @memory bytes, or half of what the machine has, ends with us, and must end
 * by _exit(). It is the first that the kernel kills where memory is short. Nothing but our patience
 * limits its time: see confine_wait().
 */
pid_t confine(struct confined *confined, int type, unsigned long long memory, int keep);
/*
 * In the new process: root's becomes that user's, without a way back. False with errno if that
 * fails.
 */
bool confine_become(uid_t uid, gid_t gid);

/* The time, in nanoseconds, that is @ms from now. */
uint64_t confine_deadline(uint64_t ms);
/*
 * Waits for a moment until it says something or ends. Returns 1 if it has, 0 if not yet, or -ETIME
 * if not and @deadline is over: a process that its owner has stopped would neither answer nor end.
 */
int confine_wait(const struct confined *confined, uint64_t deadline);
/* Reads @size bytes of a stream; false if it ends before, or the deadline is over. */
bool confine_read(const struct confined *confined, void *data, size_t size, uint64_t deadline);
/* Ends it. */
void confine_end(struct confined *confined);

#endif
