/* SPDX-License-Identifier: GPL-2.0 */
/* How far something is that takes long, in place on a terminal. */
#ifndef MTAGCTL_PROGRESS_H
#define MTAGCTL_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct progress - something that may take long; the rest is initially 0
 * @what:	what is done, and to what: "compiling file"
 * @all:	how many there are
 */
struct progress {
	const char *what;
	size_t all, done;
	uint64_t began, shown; /* milliseconds */
};

/* Number @done, from 0 on, is begun. Says so on stderr if that is a terminal and it has taken a second. */
void progress_show(struct progress *progress, size_t done);
/* It is still that one. NULL: nothing is shown. */
void progress_wait(struct progress *progress);
/* Takes back what was said. */
void progress_end(struct progress *progress);

#endif
