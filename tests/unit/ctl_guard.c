// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/stacks/trace.c ctl/stacks/demangle.c */
/* sources: ctl/stacks/perfmap.c ctl/stacks/object.c ctl/stacks/symbol.c */
/* sources: ctl/file.c ctl/kept.c ctl/progress.c ctl/confine.c */
/*
 * mtagctl: files that are made to harm who looks symbols up in them. The answer comes, other files keep their names, and
 * nothing is opened that the owner of the process may not open.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ctl.h"
#include "ctl_stacks.h"
#include "ctl_tap.h"
#include "file.h"
#include "stacks/guard.h"

#include "../../ctl/stacks/guard.c"

static uint64_t main_loop;

static struct guard *guard_of(pid_t pid)
{
	const struct trace_owner owner = trace_owner_of(pid);

	return guard_open(pid, &owner);
}

/* Whether @guard finds @want, or nothing if that is NULL, in the file @path. */
static bool finds(struct guard *guard, uint32_t id, char *path, const char *want)
{
	struct trace_image image = {
		.id = id, .path = path, .build_id_length = sizeof(elf_build_id)};
	struct symbol found[SYMBOL_INLINES_MOST];
	size_t n;
	bool good;

	memcpy(image.build_id, elf_build_id, sizeof(elf_build_id));
	n = guard_find(guard, &image, main_loop, true, found);
	good = want ? n && !strcmp(found[n - 1].function, want) : !n;

	if (!good)
		printf("# %s: %s\n", path, n ? found[n - 1].function : "nothing");
	for (size_t i = 0; i < n; i++) {
		free(found[i].function);
		free(found[i].file);
	}
	return good;
}

/* Does an answer last that says what a function is called? -1: there is none. */
static int lasts(void)
{
	struct trace_image image = {
		.id = 1, .path = elf_library, .build_id_length = sizeof(elf_build_id)};
	struct guard *guard = guard_of(getpid());
	struct symbol found[SYMBOL_INLINES_MOST];
	size_t n;

	memcpy(image.build_id, elf_build_id, sizeof(elf_build_id));
	n = guard_find(guard, &image, main_loop, true, found);
	for (size_t i = 0; i < n; i++) {
		free(found[i].function);
		free(found[i].file);
	}
	guard_close(guard);
	return n ? found[0].lasting : -1;
}

static void copy(char *path, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", elf_dir, name);
	if (!elf_run(NULL, 0, "cp '%s' '%s'", elf_stripped, path))
		abort();
}

static void test_names(void)
{
	struct guard *guard = guard_of(getpid());

	ok(finds(guard, 1, elf_library, "main_loop") && finds(guard, 2, elf_stripped, "main_loop"),
	   "functions are found as without a guard");
	guard_close(guard);
}

/* elfutils looks for debug information beside the file, unless it is told not to. */
/* What others can write may say anything, also of other files: it may not be kept. */
static void test_trust(void)
{
	int own = lasts(), others;

	chmod(elf_library, 0777);
	others = lasts();
	chmod(elf_library, 0755);
	ok(own == 1 && !others, "names last, but not those of a file that others can write to");
}

static void test_pipe_beside(void)
{
	struct guard *guard = guard_of(getpid());
	char path[PATH_MAX], pipe[PATH_MAX + 8];

	copy(path, "libpipe.so");
	snprintf(pipe, sizeof(pipe), "%s.debug", path);
	if (mkfifo(pipe, 0600))
		abort();
	ok(finds(guard, 1, path, "main_loop"), "a pipe beside a file is not waited for");
	guard_close(guard);
}

/* The file is cut off between two questions. */
static void test_cut(void)
{
	struct guard *guard = guard_of(getpid());
	char path[PATH_MAX];
	bool first, others;

	snprintf(path, sizeof(path), "%s/libcut.so", elf_dir);
	if (!elf_run(NULL, 0, "cp '%s' '%s'", elf_library, path))
		abort();
	first = finds(guard, 1, elf_stripped, "main_loop");
	{
		const struct trace_image image = {.id = 2, .path = path};
		struct symbol none[SYMBOL_INLINES_MOST];

		/* It is opened, and not read further. */
		guard_find(guard, &image, 1ULL << 60, true, none);
	}
	if (truncate(path, 64))
		abort();
	finds(guard, 2, path, NULL);
	others = finds(guard, 1, elf_stripped, "main_loop") &&
		 finds(guard, 3, elf_library, "main_loop");
	ok(first && others, "when a file is cut off while it is read, others keep their names");
	guard_close(guard);
}

/* The process that reads is killed as often as it comes. */
static void test_deaths(void)
{
	struct guard *guard = guard_of(getpid());
	unsigned int asked = 0;
	bool alive = finds(guard, 1, elf_stripped, "main_loop");

	for (; asked < 10; asked++) {
		if (!elf_run(NULL, 0, "pkill -9 -P %s ctl_guard", "$PPID", NULL))
			break;
		finds(guard, 2 + asked, elf_stripped, NULL);
		finds(guard, 1, elf_stripped, "main_loop");
	}
	printf("# asked %u times\n", asked);
	ok(alive && asked == 3 && finds(guard, 1, elf_stripped, NULL),
	   "after three deaths no more processes are begun");
	guard_close(guard);
}

/* The owner of a file kills the process that reads it, again and again; the other one lives. */
static void test_deaths_of_one(void)
{
	struct guard *guard = guard_of(getpid());
	bool good = finds(guard, 1, elf_stripped, "main_loop");
	char path[PATH_MAX];
	pid_t reader;

	copy(path, "libothers.so");
	chmod(path, 0777);
	for (uint32_t i = 0; i < DEATHS_MOST; i++) {
		good &= finds(guard, 10 + i, path, "main_loop") &&
			elf_run(NULL, 0, "pkill -9 -n -P %s ctl_guard", "$PPID", NULL) &&
			finds(guard, 20 + i, path, NULL);
	}
	ok(good && guard->trusting.reads && finds(guard, 1, elf_stripped, NULL),
	   "after the deaths of one reader the other one is not asked any more either");
	reader = guard->trusting.process.pid;
	kill(reader, SIGKILL);
	for (uint32_t i = 0; i < 10; i++)
		good &= finds(guard, 30 + i, elf_stripped, NULL);
	ok(good && guard->trusting.process.pid == reader && guard->deaths == DEATHS_MOST,
	   "and when that dies, too, none is begun");
	guard_close(guard);
}

static bool stops;

static void stop(void)
{
	if (stops)
		raise(SIGSTOP);
}

static void test_stopped(void)
{
	struct guard *guard = guard_of(getpid());
	bool given_up;

	guard->trusting.patience = 500;
	stops = true;
	given_up = finds(guard, 1, elf_stripped, NULL) && !guard->trusting.patience &&
		   finds(guard, 2, elf_library, NULL);
	stops = false;
	ok(given_up && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
	   "a reader that is stopped is ended when patience is, and no other begun");
	guard->trusting.patience = 60000;
	ok(finds(guard, 1, elf_stripped, NULL) && finds(guard, 2, elf_library, "main_loop") &&
		   guard->trusting.patience,
	   "other files have names then, if there is time for them");
	guard_close(guard);
}

/* Does a process have the file open that @st is of? */
static bool has_open(pid_t pid, const struct stat *st)
{
	char path[64];
	bool found = false;

	for (int fd = 0; fd < 256 && !found; fd++) {
		struct stat open;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		found = !stat(path, &open) && open.st_dev == st->st_dev &&
			open.st_ino == st->st_ino;
	}
	return found;
}

/* The terminal and the files of whoever asks; a file that takes a reader over would have them. */
static void test_descriptors(void)
{
	struct guard *guard = guard_of(getpid());
	struct stat ours;
	char path[PATH_MAX];
	pid_t pid;
	int fd;

	snprintf(path, sizeof(path), "%s/ours", elf_dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || fstat(fd, &ours) || !finds(guard, 1, elf_stripped, "main_loop"))
		abort();
	pid = guard->trusting.process.pid;
	ok(has_open(getpid(), &ours) && !has_open(pid, &ours) && getsid(pid) == pid,
	   "who reads has neither our files nor our terminal");
	guard_close(guard);
	close(fd);
}

/* A name of 400 characters that stands for 2^30 of them. */
static void test_long_name(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct guard *guard = guard_of(getpid());
	char name[500] = "_Z1fI1A1PIS0_S0_E", path[PATH_MAX];

	for (int i = 2; i < 36; i++)
		sprintf(name + strlen(name), "S1_IS%c_S%c_E", digits[i], digits[i]);
	strcat(name, "Evv");
	snprintf(path, sizeof(path), "%s/libname.so", elf_dir);
	if (!elf_run(NULL, 0, "objcopy --redefine-sym main_loop=%s --strip-debug '%s' ", name,
		     elf_library) ||
	    !elf_run(NULL, 0, "mv '%s' '%s'", elf_library, path))
		abort();
	ok(finds(guard, 1, path, name), "a name that stands for too long a one stays as it is");
	guard_close(guard);
}

/* The file of another user's process, in which root looks for symbols. */
static void test_rights(void)
{
	struct guard *guard;
	char path[PATH_MAX];
	pid_t pid;
	bool secret, open;

	if (geteuid()) {
		printf("ok %d # SKIP only root is to give up rights\n", ++tap_run);
		return;
	}
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		pause();
		_exit(0);
	}
	copy(path, "libsecret.so");
	while (!kill(pid, 0)) {
		struct stat st;
		char proc[32];

		snprintf(proc, sizeof(proc), "/proc/%d", (int)pid);
		if (!stat(proc, &st) && st.st_uid == 65534)
			break;
		usleep(1000);
	}
	chmod(elf_dir, 0755);
	chmod(path, 0600);
	guard = guard_of(pid);
	secret = finds(guard, 1, path, NULL);
	chmod(path, 0644);
	open = finds(guard, 2, path, "main_loop");
	ok(secret && open, "root reads in them with the rights of the owner of the process");
	guard_close(guard);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * A process in a container, with more rights than its user, who may therefore not look its root
 * directory up. Says when it is there.
 */
static _Noreturn void be_service(const char *root, int said)
{
	char path[64];
	FILE *map;

	if (chroot(root) || chdir("/") || prctl(PR_SET_KEEPCAPS, 1) || setgid(65534) ||
	    setuid(65534) || prctl(PR_SET_DUMPABLE, 1))
		_exit(1);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map || fputs("7f0000001000 100 compiled\n", map) < 0 || fclose(map) ||
	    write(said, "", 1) != 1)
		_exit(1);
	pause();
	_exit(0);
}

static void test_service(void)
{
	const struct trace_image image = {.id = 1, .path = strcpy((char[8]){""}, "[anon]")};
	struct symbol found[SYMBOL_INLINES_MOST];
	char root[PATH_MAX], tmp[PATH_MAX + 8], byte;
	struct guard *guard;
	int said[2];
	size_t n = 0;
	pid_t pid;

	if (geteuid()) {
		printf("ok %d # SKIP only root can make a container\n", ++tap_run);
		return;
	}
	snprintf(root, sizeof(root), "%s/root", elf_dir);
	snprintf(tmp, sizeof(tmp), "%s/tmp", root);
	if (mkdir(root, 0755) || mkdir(tmp, 0700) || chown(tmp, 65534, 65534) ||
	    chmod(elf_dir, 0755) || pipe(said))
		abort();
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid < 0)
		abort();
	if (!pid)
		be_service(root, said[1]);
	close(said[1]);
	if (read(said[0], &byte, 1) != 1)
		abort();
	guard = guard_of(pid);
	n = guard_find(guard, &image, 0x7f0000001000, true, found);
	guard_close(guard);
	close(said[0]);
	ok(n == 1 && !strcmp(found[0].function, "compiled"),
	   "a container's compiled functions are found, though their user may not look where");
	if (n)
		free(found[0].function);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A link to debug information that leads out of the directory where that is. */
static void test_link(void)
{
	static const char make[] =
		"cd '%s' && objcopy --add-gnu-debuglink=libpool.so libpool-stripped.so '%s' && "
		"objcopy --dump-section .gnu_debuglink=link liblink.so && name=../../..$PWD/libpool.so && "
		"{ printf %%s $name; head -c $((4 - ${#name} %% 4)) /dev/zero; tail -c 4 link; } >links && "
		"objcopy --update-section .gnu_debuglink=links liblink.so";
	struct trace_image image = {.id = 1};
	struct symbol found[SYMBOL_INLINES_MOST];
	struct guard *guard = guard_of(getpid());
	char path[PATH_MAX];
	size_t n;

	if (!elf_run(NULL, 0, make, elf_dir, "liblink.so"))
		abort();
	snprintf(path, sizeof(path), "%s/liblink.so", elf_dir);
	image.path = path;
	n = guard_find(guard, &image, elf_offset(ELF_LEGACY), true, found);
	ok(!n && finds(guard, 1, path, "main_loop"),
	   "a link out of the directory of debug information is not followed");
	guard_close(guard);
}

/* Only regular files, and nothing else is even opened. */
static void test_regular(void)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/pipe", elf_dir);
	if (mkfifo(path, 0600))
		abort();
	ok(file_open_regular(path) < 0 && file_open_regular("/dev/zero") < 0 &&
		   file_open_regular("/") < 0 && file_open_regular("/no/such") < 0,
	   "pipes, devices and directories are not opened");
	fd = file_open_regular(elf_stripped);
	ok(fd >= 0, "a file is");
	close(fd);
}

int main(void)
{
	alarm(300);
	if (!elf_build()) {
		printf("1..0 # SKIP no C compiler, nm, readelf and objcopy here\n");
		elf_remove();
		return 0;
	}
	main_loop = elf_offset("main_loop");
	test_names();
	test_trust();
	test_pipe_beside();
	test_cut();
	test_deaths();
	test_deaths_of_one();
	pthread_atfork(NULL, NULL, stop);
	test_stopped();
	test_descriptors();
	test_rights();
	test_service();
	test_link();
	test_regular();
	test_long_name();
	elf_remove();
	return tap_end();
}
