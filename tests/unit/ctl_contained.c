// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/trace.c ctl/stacks/demangle.c ctl/stacks/perfmap.c ctl/stacks/object.c ctl/stacks/symbol.c */
/* sources: ctl/file.c ctl/kept.c ctl/parse.c ctl/utf8.c */
/*
 * mtagctl: functions of processes in containers are those of their own files, not of what is at
 * the same path here.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ctl.h"
#include "ctl_stacks.h"
#include "ctl_tap.h"
#include "stacks/symbol.h"

static struct trace_image library = {.id = 1, .path = elf_library},
			  stripped = {.id = 2, .path = elf_stripped};

/* Is the function at an offset of a file that @pid has called @want? NULL: there is none. */
static bool is_in(pid_t pid, const struct trace_image *image, uint64_t offset, const char *want)
{
	_cleanup_(symbols_closep) struct symbols *symbols = symbols_open(pid);
	struct symbol found[SYMBOL_INLINES_MOST];
	size_t n = symbols_find(symbols, image, offset, true, found);
	bool good = want ? n && !strcmp(found[0].function, want) : !n;

	if (!good)
		printf("# %s\n", n ? found[0].function : "nothing");
	for (size_t i = 0; i < n; i++) {
		free(found[i].function);
		free(found[i].file);
	}
	return good;
}

static void end_contained(pid_t pid)
{
	if (pid < 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * A child that has the file @other in place of the library: below a root directory of its own,
 * @root, or, without one, mounted over it. -1 if we may not start such a child.
 */
static pid_t start_contained(const char *root, const char *other)
{
	int ready[2], failed = 1;
	pid_t pid;

	if (pipe(ready))
		abort();
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		failed = unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
		if (!failed)
			failed = root ? chroot(root) || chdir("/")
				      : mount(other, elf_library, NULL, MS_BIND, NULL);
		if (write(ready[1], &failed, sizeof(failed)) == sizeof(failed))
			pause();
		_exit(1);
	}
	if (read(ready[0], &failed, sizeof(failed)) != sizeof(failed))
		abort();
	close(ready[0]);
	close(ready[1]);
	if (!failed)
		return pid;
	end_contained(pid);
	return -1;
}

static bool trusts(pid_t pid, const struct trace_image *image)
{
	_cleanup_(symbols_closep) struct symbols *symbols = symbols_open(pid);

	return symbols_trusts(symbols, image);
}

/*
 * A process that is in the container @root, until it is told to be as one of ours that got its id. -1 if we may not
 * start such a process.
 */
static pid_t start_replaced(const char *root, int told, int says)
{
	char byte = 0;
	pid_t pid = fork();

	if (!pid) {
		int ours = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = chroot(root) || chdir("/");
		if (write(says, &byte, 1) != 1 || read(told, &byte, 1) != 1 || fchdir(ours) ||
		    chroot(".") || write(says, "", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	return pid;
}

/* Its id is all that we have of a process; its files were found while it was there. */
static void test_replaced(const char *root)
{
	int to[2], from[2];
	char byte = 1;
	pid_t pid;

	if (pipe(to) || pipe(from))
		abort();
	pid = start_replaced(root, to[0], from[1]);
	if (pid < 0 || read(from[0], &byte, 1) != 1)
		abort();
	if (byte) {
		printf("ok %d # SKIP only root may start a container\n", ++tap_run);
	} else {
		_cleanup_(symbols_closep) struct symbols *symbols = symbols_open(pid);

		if (write(to[1], "", 1) != 1 || read(from[0], &byte, 1) != 1)
			abort();
		ok(trusts(pid, &library) && !symbols_trusts(symbols, &library),
		   "nor when the process's id has become that of one of ours");
	}
	end_contained(pid);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}

/*
 * The file at the library's path there is another one, of the same build-id, in which a function
 * has another name.
 */
static void test_containers(void)
{
	uint64_t legacy = elf_offset(ELF_LEGACY), main_loop = elf_offset("main_loop");
	char root[PATH_MAX], other[2 * PATH_MAX];
	pid_t jailed, mounted;

	snprintf(root, sizeof(root), "%s/root", elf_dir);
	snprintf(other, sizeof(other), "%s%s", root, elf_library);
	if (!elf_run(NULL, 0, "mkdir -p '%s%s'", root, elf_dir) ||
	    !elf_run(NULL, 0,
		     "objcopy --strip-debug --redefine-sym " ELF_LEGACY "=theirs '%s' '%s'",
		     elf_library, other))
		abort();
	jailed = start_contained(root, other);
	mounted = start_contained(NULL, other);
	if (jailed < 0 || mounted < 0) {
		printf("ok %d # SKIP only root may start a container\n", ++tap_run);
	} else {
		ok(is_in(jailed, &library, legacy, "theirs"),
		   "the files of a process with another root directory are looked up there");
		ok(is_in(mounted, &library, legacy, "theirs"),
		   "and those of one with other mounts");
		ok(is_in(getpid(), &library, legacy, "example::arena::alloc"), "not our own files");
		ok(is_in(getpid(), &stripped, main_loop, "main_loop") &&
			   is_in(jailed, &stripped, main_loop, NULL),
		   "what is not there has no functions, though we have a file of that name");
		ok(!trusts(jailed, &library), "below another root directory no file is trusted");
	}
	end_contained(jailed);
	end_contained(mounted);
	test_replaced(root);
}

int main(void)
{
	if (elf_build())
		test_containers();
	else
		printf("ok %d # SKIP no C compiler, nm, readelf and objcopy here\n", ++tap_run);
	elf_remove();
	return tap_end();
}
