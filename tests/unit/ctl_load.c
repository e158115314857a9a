// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/unwind/image.c ctl/unwind/recipe.c ctl/unwind/cfi.c ctl/unwind/ranges.c ctl/unwind/table.c */
/* sources: ctl/unwind/cache.c ctl/kept.c ctl/file.c ctl/confine.c ctl/parse.c ctl/utf8.c ctl/fail.c ctl/stacks/needed.c */
/*
 * mtagctl: the unwind tables of a process that changes while they are handed in. The module is played by this program.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl_tap.h"
#include "kern.h"
#include "uapi/linux/mtag.h"

static int hand_in_table(int fd, unsigned long request, ...);

const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

#undef MTAG_DEVICE
#define MTAG_DEVICE "/dev/null"
#define ioctl	    hand_in_table
#include "../../ctl/stacks/load.c"
#undef ioctl

static struct loader loader;
static unsigned int trusted, foreign;
static int told[2], said[2];

/* When its first table comes, the process goes into a container. */
static int hand_in_table(int fd, unsigned long request, ...)
{
	char byte;

	(void)fd;
	(void)request;
	if (loader.foreign)
		foreign++;
	else if (!trusted++ && (write(told[1], "", 1) != 1 || read(said[0], &byte, 1) != 1))
		abort();
	return 0;
}

static _Noreturn void move(const char *root)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(told[0], &byte, 1) != 1 || chroot(root) || chdir("/") ||
	    write(said[1], "", 1) != 1)
		_exit(1);
	pause();
	_exit(0);
}

static void test_moved(const char *root)
{
	pid_t pid;

	if (geteuid()) {
		printf("ok %d # SKIP only root can make a container\n", ++tap_run);
		return;
	}
	if (pipe(told) || pipe(said))
		abort();
	pid = fork();
	if (!pid)
		move(root);
	loader_init(&loader);
	if (pid < 0 || load_process(&loader, pid))
		abort();
	printf("# %u trusted, %u foreign\n", trusted, foreign);
	ok(trusted == 1 && foreign > 1,
	   "files that a process has mapped count as a container's once it is in one");
	loader_clear(&loader);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	char dir[] = "/tmp/mtag-load.XXXXXX", command[64];
	int failed;

	alarm(60);
	if (!mkdtemp(dir) || setenv("XDG_CACHE_HOME", dir, 1))
		return 1;
	test_moved(dir);
	failed = tap_end();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) || failed;
}
