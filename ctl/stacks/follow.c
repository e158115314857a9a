// SPDX-License-Identifier: GPL-2.0
/*
 * A process in the background that hands in the unwind tables of what others map later: by dlopen, or by executing
 * another program. It neither polls nor keeps the module.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stacks/follow.h"
#include "stacks/load.h"

/* Deeper than any real tree of processes; a loop in what /proc says ends here. */
#define DEPTH_MAX 64

static void load_tree(struct loader *loader, pid_t pid, int depth);

static void load_children(struct loader *loader, pid_t pid, const char *thread, int depth)
{
	char path[64];
	FILE *children;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, thread);
	children = fopen(path, "re");
	if (!children)
		return;
	while (fscanf(children, "%d", &child) == 1)
		load_tree(loader, child, depth + 1);
	fclose(children);
}

/* The process and all that its threads have begun. */
static void load_tree(struct loader *loader, pid_t pid, int depth)
{
	const struct dirent *thread;
	char path[64];
	DIR *threads;

	load_process(loader, pid);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = depth < DEPTH_MAX ? opendir(path) : NULL;
	if (!threads)
		return;
	while ((thread = readdir(threads)))
		if (thread->d_name[0] != '.')
			load_children(loader, pid, thread->d_name, depth);
	closedir(threads);
}

/* Until the process has ended. */
static void serve(pid_t pid, int pidfd, int event)
{
	struct pollfd wait[] = {{.fd = event, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
	struct loader loader;
	uint64_t files;

	loader_init(&loader);
	while (poll(wait, 2, -1) >= 0 || errno == EINTR) {
		if (wait[1].revents)
			break;
		if (wait[0].revents && read(event, &files, sizeof(files)) == sizeof(files))
			load_tree(&loader, pid, 0);
	}
	loader_clear(&loader);
}

/* Keeps nothing of its starter open but these two, which become 3 and 4, and no directory. */
static void detach(int pidfd, int event)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	signal(SIGHUP, SIG_IGN);
	pidfd = fcntl(pidfd, F_DUPFD, 5);
	event = fcntl(event, F_DUPFD, 5);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (chdir("/") || dup2(pidfd, 3) != 3 || dup2(event, 4) != 4 ||
	    syscall(SYS_close_range, 5, ~0U, 0))
		_exit(1);
}

int follow(pid_t pid, int event)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), err, status;
	pid_t starter;

	if (pidfd < 0)
		return -errno;
	starter = fork();
	if (!starter) {
		/* Nobody has to wait for a grandchild. */
		pid_t helper = fork();

		if (helper)
			_exit(helper < 0 ? errno : 0);
		detach(pidfd, event);
		serve(pid, 3, 4);
		_exit(0);
	}
	err = starter < 0 ? -errno : 0;
	close(pidfd);
	if (starter > 0 && waitpid(starter, &status, 0) == starter && WIFEXITED(status))
		err = -WEXITSTATUS(status);
	return err;
}
