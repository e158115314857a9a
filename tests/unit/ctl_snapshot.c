// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stop.c ctl/offline/store.c ctl/file.c ctl/fail.c ctl/option.c ctl/parse.c ctl/utf8.c ctl/synopsis.c */
/* mtagctl snapshot: signals while it waits for its file. The kernel is played by this program. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl_lock.h"
#include "ctl_tap.h"
#include "kern.h"

#include "../../ctl/cmd/snapshot.c"

#define FILE_NAME "samples"
#define SAMPLE	  "{\"mtag_snapshot\":1}\n{\"end\":0}\n"

const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

int source_read(struct source *source, pid_t *pids, size_t n, struct snap *snap)
{
	(void)source;
	(void)pids;
	(void)n;
	(void)snap;
	return 0;
}

void snap_clear(struct snap *snap)
{
	(void)snap;
}

int snapshot_print(FILE *out, const struct origin *origin, const struct snap *snap,
		   struct snapshot_left *left)
{
	(void)origin;
	(void)snap;
	*left = (struct snapshot_left){0};
	return fputs(SAMPLE, out) < 0 ? -ENOMEM : 0;
}

static off_t size_of_file(void)
{
	struct stat st;

	return stat(FILE_NAME, &st) ? -1 : st.st_size;
}

/* @lock: not to be had by it, too; or -1. */
static pid_t start(int lock)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct snapshot s = {.store = {.path = FILE_NAME}, .count = 1};

		if (lock >= 0)
			close(lock);
		_exit(take_series(&s));
	}
	if (pid < 0)
		abort();
	return pid;
}

/* Sends a signal; false if it is not taken within 10 s. */
static bool send(pid_t pid, int signal)
{
	char path[32], line[200];
	unsigned long long pending = 1;

	kill(pid, signal);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	for (int i = 0; i < 10000 && pending; i++) {
		FILE *status = fopen(path, "re");

		while (status && fgets(line, sizeof(line), status) &&
		       sscanf(line, "ShdPnd: %llx", &pending) != 1)
			;
		if (status)
			fclose(status);
		usleep(1000);
	}
	return !pending;
}

/* The exit status, within 10 s; -1: there is none. */
static int end(pid_t pid)
{
	int status;

	for (int i = 0; i < 10000; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		usleep(1000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return -1;
}

static int lock(void)
{
	int fd = open(FILE_NAME, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX))
		abort();
	return fd;
}

/* Another one has the file, and may have it for ever. */
static void test_locked(void)
{
	int fd = lock();
	pid_t pid = start(fd);
	bool waited;

	ok(waits(pid) && send(pid, SIGTERM) && waits(pid),
	   "after a signal the sample under way still waits for its file");
	close(fd);
	ok(!end(pid) && size_of_file() == 2 * (off_t)strlen(SAMPLE), "and is completed then");
	fd = lock();
	pid = start(fd);
	waited = waits(pid) && send(pid, SIGTERM);
	kill(pid, SIGINT);
	ok(waited && end(pid) == 128 + SIGINT, "a second signal does not wait for the file");
	ok(size_of_file() == 2 * (off_t)strlen(SAMPLE), "which is left alone");
	close(fd);
}

int main(void)
{
	char dir[] = "/tmp/mtag-snapshot.XXXXXX", command[64];
	int failed;

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	ok(!end(start(-1)) && size_of_file() == (off_t)strlen(SAMPLE), "a sample is written");
	test_locked();
	failed = tap_end();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) || failed;
}
