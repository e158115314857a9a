// SPDX-License-Identifier: GPL-2.0
/* Forks processes that read what others wrote, so that such a file harms no more than its own report. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
	if (write(fd, "1000", 4) != 4)
		errno = 0;
	close(fd);
}

static void begin(pid_t parent, unsigned long long memory)
{
	sigset_t all;

	/* A snapshot has them blocked while it writes. */
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

int open_regular(const char *path)
{
	char again[32];
	struct stat st;
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;

	if (place < 0)
		return -1;
	if (!fstat(place, &st) && S_ISREG(st.st_mode)) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
		fd = open(again, O_RDONLY | O_CLOEXEC);
	}
	close(place);
	return fd;
}

bool confine_write(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t put = send(fd, at, size, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		at += put;
		size -= (size_t)put;
	}
	return true;
}

bool confine_read(int fd, void *data, size_t size)
{
	char *at = data;

	while (size) {
		ssize_t got = recv(fd, at, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}
