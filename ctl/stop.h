/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals of commands that run until they are stopped. These must end even if what they ask of the kernel does not.
 */
#ifndef MTAGCTL_STOP_H
#define MTAGCTL_STOP_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Set by a signal: the command ends when it has done what it is at. */
extern atomic_bool stopped;
/* Set when the terminal's size has changed. */
extern volatile sig_atomic_t resized;

/*
 * Blocks SIGWINCH, SIGINT and SIGTERM from here on, and SIGHUP and SIGQUIT unless they are ignored.
 * Only a wait with @waiting, which unblocks what was not blocked before, can be interrupted, so no
 * signal is lost between waits. A second stop signal ends the process at once, after calling
 * @restore unless it is NULL: a request may wait as long as another process holds a lock. Returns 0
 * or -errno.
 */
int stop_begin(sigset_t *waiting, void (*restore)(void));
/* Until it is set to false the second signal waits, too. */
void stop_hold(bool hold);

#endif
