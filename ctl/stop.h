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
 * Blocks SIGWINCH, SIGINT and SIGTERM from here on, and SIGHUP and SIGQUIT unless they are ignored: no call is
 * interrupted but a wait with @waiting, in which all that was not blocked before is let through, so that none is missed
 * between two waits. The second one to stop ends the process at once, as who asks for a process may have to wait for as
 * long as that holds a lock; @restore, if not NULL, is called first. Returns 0 or -errno.
 */
int stop_begin(sigset_t *waiting, void (*restore)(void));
/* Until it is set to false the second signal waits, too. */
void stop_hold(bool hold);

#endif
