// SPDX-License-Identifier: GPL-2.0
/* Signals of commands that run until they are stopped: a thread of its own waits for those that stop them. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "stop.h"

#define WAKE SIGUSR1

atomic_bool stopped;
volatile sig_atomic_t resized;

static pthread_t main_thread;
static atomic_bool held;
static void (*restore_terminal)(void);

static void on_signal(int signal)
{
	if (signal == SIGWINCH)
		resized = 1;
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
	struct sigaction action = {.sa_handler = on_signal};
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
	sigaddset(&blocked, SIGWINCH);
	sigaction(WAKE, &action, NULL);
	sigaction(SIGWINCH, &action, NULL);
	pthread_sigmask(SIG_BLOCK, &blocked, waiting);
	/* They go to the thread also while we wait. */
	sigorset(waiting, waiting, &set);
	sigdelset(waiting, WAKE);
	sigdelset(waiting, SIGWINCH);
	main_thread = pthread_self();
	restore_terminal = restore;
	err = pthread_create(&thread, NULL, wait_for_signals, &set);
	if (!err)
		pthread_detach(thread);
	return -err;
}
