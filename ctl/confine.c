// SPDX-License-Identifier: GPL-2.0
/* Forks processes that read what others wrote, so that such a file harms no more than its own report. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"

#define CPU_SECONDS 200
#define SECONDS	    300

static void limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) || now.rlim_cur <= most)
		return;
	now.rlim_cur = most;
	setrlimit(resource, &now);
}

/* AddressSanitizer's shadow is larger than any memory. */
static void limit_memory(unsigned long long most)
{
#ifdef __SANITIZE_ADDRESS__
	(void)most;
#else
	unsigned long long half = (unsigned long long)sysconf(_SC_PHYS_PAGES) *
				  (unsigned long long)sysconf(_SC_PAGESIZE) / 2;

	limit(RLIMIT_DATA, half < most ? half : most);
#endif
}

static void be_killed_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dprintf(fd, "1000");
	close(fd);
}

static void begin(pid_t parent, unsigned long long memory)
{
	sigset_t all;

	/* A terminal and systemd send these to all of a group: whoever asks decides, and may have work to complete. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* A snapshot has others blocked. */
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	signal(SIGALRM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, CPU_SECONDS);
	limit_memory(memory);
	be_killed_first();
	alarm(SECONDS);
}

pid_t confine(struct confined *confined, int type, unsigned long long memory)
{
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends))
		return -errno;
	confined->pid = fork();
	if (confined->pid < 0) {
		int err = -errno;

		close(ends[0]);
		close(ends[1]);
		return err;
	}
	close(ends[confined->pid ? 1 : 0]);
	confined->socket = ends[confined->pid ? 0 : 1];
	if (!confined->pid)
		begin(parent, memory);
	return confined->pid;
}

void confine_end(struct confined *confined)
{
	close(confined->socket);
	kill(confined->pid, SIGKILL);
	while (waitpid(confined->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
