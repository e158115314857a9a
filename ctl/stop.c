// SPDX-License-Identifier: GPL-2.0
/* Signals that end a command: a thread of its own waits for them. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "stop.h"

#define WAKE SIGUSR1

atomic_bool stopped;

static pthread_t main_thread;
static atomic_bool held;
static void (*restore_terminal)(void);

static void wake(int signal)
{
	(void)signal;
}

static void *wait_for_signals(void *set)
{
	int signal;

	while (!sigwait(set, &signal)) {
		if (!atomic_exchange(&stopped, true)) {
			pthread_kill(main_thread, WAKE);
			continue;
		}
		while (held)
			usleep(1000);
		if (restore_terminal)
			restore_terminal();
		_exit(128 + signal);
	}
	return NULL;
}

static void add_unless_ignored(sigset_t *set, int signal)
{
	struct sigaction now;

	if (!sigaction(signal, NULL, &now) && now.sa_handler != SIG_IGN)
		sigaddset(set, signal);
}

void stop_hold(bool hold)
{
	held = hold;
}

int stop_begin(sigset_t *waiting, void (*restore)(void))
{
	static sigset_t set;
	struct sigaction action = {.sa_handler = wake};
	sigset_t blocked;
	pthread_t thread;
	int err;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	add_unless_ignored(&set, SIGHUP);
	add_unless_ignored(&set, SIGQUIT);
	blocked = set;
	sigaddset(&blocked, WAKE);
	sigaction(WAKE, &action, NULL);
	pthread_sigmask(SIG_BLOCK, &blocked, waiting);
	/* They go to the thread also while we wait. */
	sigorset(waiting, waiting, &set);
	sigdelset(waiting, WAKE);
	main_thread = pthread_self();
	restore_terminal = restore;
	err = pthread_create(&thread, NULL, wait_for_signals, &set);
	if (!err)
		pthread_detach(thread);
	return -err;
}
