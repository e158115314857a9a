/* SPDX-License-Identifier: GPL-2.0 */
/* A process of its own for reading what others wrote: files may be made to take all memory, or for ever. */
#ifndef MTAGCTL_CONFINE_H
#define MTAGCTL_CONFINE_H

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
 * Forks. Returns the process's id, or a negative errno; and 0 in the new process, which has its end in @confined, may
 * use @memory bytes, or half of what the machine has, and a few minutes, ends with us, and must end by _exit(). It is
 * the first that the kernel kills where memory is short.
 */
pid_t confine(struct confined *confined, int type, unsigned long long memory);
/* Ends it. */
void confine_end(struct confined *confined);

#endif
