// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stop.c */
/* mtagctl: a signal ends a command when it is done; the second one ends it at once, whatever it waits for. */
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl_tap.h"
#include "stop.h"

static int ready[2], restored[2];

static void restore(void)
{
	if (write(restored[1], "", 1) != 1)
		_exit(1);
}

/* In a wait of its own, or in one that nothing ends. */
static void work(bool stuck, bool hold)
{
	const struct timespec long_time = {.tv_sec = 100};
	sigset_t waiting;
	int never[2];
	char byte;

	if (pipe(never) || stop_begin(&waiting, restore) || write(ready[1], "", 1) != 1)
		_exit(1);
	stop_hold(hold);
	while (!stopped)
		ppoll(NULL, 0, &long_time, &waiting);
	if (hold) {
		usleep(300000);
		stop_hold(false);
	}
	while (stuck && read(never[0], &byte, 1) < 0)
		;
	_exit(0);
}

static pid_t start(bool stuck, bool hold)
{
	pid_t pid = fork();
	char byte;

	if (!pid)
		work(stuck, hold);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		abort();
	return pid;
}

static int end(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

int main(void)
{
	struct pollfd told = {.events = POLLIN};
	pid_t pid;

	alarm(60);
	if (pipe(ready) || pipe(restored))
		abort();
	told.fd = restored[0];
	pid = start(false, false);
	kill(pid, SIGTERM);
	ok(!end(pid) && !poll(&told, 1, 0), "a signal ends the wait, and the command as it should");
	pid = start(true, false);
	kill(pid, SIGINT);
	usleep(100000);
	ok(!waitpid(pid, NULL, WNOHANG), "one that waits for something else goes on");
	kill(pid, SIGINT);
	ok(end(pid) == 128 + SIGINT && poll(&told, 1, 0) == 1,
	   "the second signal ends it, and gives the terminal back");
	pid = start(true, true);
	kill(pid, SIGTERM);
	usleep(50000);
	kill(pid, SIGTERM);
	usleep(50000);
	ok(!waitpid(pid, NULL, WNOHANG), "not while it writes");
	ok(end(pid) == 128 + SIGTERM, "but then");
	return tap_end();
}
