// SPDX-License-Identifier: GPL-2.0
/* Forks processes that read what others wrote, so that such a file harms no more than its own report. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "confine.h"

#define WAIT_MS 200
#define END_MS	1000

#ifdef __SANITIZE_ADDRESS__
#define FD_FIRST 3 /* the sanitizer reports to stderr */
#else
#define FD_FIRST 0
#endif

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

/* Those from @from on, up to @to. */
static void close_between(unsigned int from, unsigned int to)
{
	if (from < to && syscall(SYS_close_range, from, to - 1, 0))
		_exit(1);
}

/*
 * A file that takes this process over is not to have our files, nor our terminal, into which it
 * could type.
 */
static void keep_only(int socket, int keep)
{
	unsigned int one = (unsigned int)socket, two = keep < 0 ? one : (unsigned int)keep;
	unsigned int low = one < two ? one : two, high = one < two ? two : one;
	int fd;

	close_between(FD_FIRST, low);
	close_between(low + 1, high);
	close_between(high + 1, ~0U);
	/* Keeps the standard descriptors taken, so that what a library prints cannot end up in a file opened later. */
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
	setsid();
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
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	limit(RLIMIT_CORE, 0);
	limit_memory(memory);
	be_killed_first();
}

pid_t confine(struct confined *confined, int type, unsigned long long memory, int keep)
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
	if (!confined->pid) {
		keep_only(confined->socket, keep);
		begin(parent, memory);
	}
	return confined->pid;
}

bool confine_become(uid_t uid, gid_t gid)
{
	if (geteuid())
		return true;
	if (setresgid(gid, gid, gid) || setgroups(0, NULL) || setresuid(uid, uid, uid))
		return false;
	/* A process whose rights change no longer ends with its parent. */
	return !prctl(PR_SET_PDEATHSIG, SIGKILL);
}

uint64_t confine_deadline(uint64_t ms)
{
	return clock_ns(CLOCK_MONOTONIC) + ms * NSEC_PER_MSEC;
}

int confine_wait(const struct confined *confined, uint64_t deadline)
{
	struct pollfd answer = {.fd = confined->socket, .events = POLLIN};

	if (poll(&answer, 1, WAIT_MS) > 0)
		return 1;
	return clock_ns(CLOCK_MONOTONIC) < deadline ? 0 : -ETIME;
}

bool confine_read(const struct confined *confined, void *data, size_t size, uint64_t deadline)
{
	char *at = data;

	while (size) {
		int ready = confine_wait(confined, deadline);
		ssize_t got;

		/* Something may come all the time, a byte at once. */
		if (ready < 0 || clock_ns(CLOCK_MONOTONIC) >= deadline)
			return false;
		if (!ready)
			continue;
		got = TEMP_FAILURE_RETRY(recv(confined->socket, at, size, MSG_DONTWAIT));
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

/*
 * A process in a file system of its owner's that does not answer cannot be killed until it does. It
 * is left to init: to wait for it could take for ever.
 */
void confine_end(struct confined *confined)
{
	int pidfd = (int)syscall(SYS_pidfd_open, confined->pid, 0);
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	close(confined->socket);
	kill(confined->pid, SIGKILL);
	TEMP_FAILURE_RETRY(poll(&ended, 1, END_MS));
	TEMP_FAILURE_RETRY(waitpid(confined->pid, NULL, WNOHANG));
	if (pidfd >= 0)
		close(pidfd);
}
