// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The snapshots that environment variables ask for. Each test executes this program again, which then
 * is a program that attaches to the module of lib_fake.h and does what its arguments say.
 */
#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "lib_fake.h"

/* ---- the program ---- */

/* The sanitizer's leak checker, where there is one, cannot look into a setuid process. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return getauxval(AT_SECURE) != 0;
}

static void own_handler(int number)
{
	(void)number;
}

static int threads_here(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = -2; /* . and .. */

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/*
 * A machine that is busy may not run a new thread for long. In a program whose first argument is
 * "busy" the helper runs only once the program lets it.
 */
static atomic_bool idle;
static void *(*helper_main)(void *);

static void *run_when_idle(void *arg)
{
	while (!atomic_load(&idle))
		sched_yield();
	return helper_main(arg);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	bool busy = !strcmp(program_invocation_name, "busy");

	*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	if (busy)
		helper_main = start;
	return create(thread, attr, busy ? run_when_idle : start, arg);
}

/*
 * Waits until the helper sleeps: it allocates when it begins to run, and a child that is forked just then
 * has the address sanitizer's allocator locked for good (gcc 12's does not care for fork()).
 */
static pid_t fork_alone(bool barely)
{
	char path[300], text[64] = "";
	struct dirent *task;
	FILE *f;
	DIR *dir;

	while (threads_here() > 1 && !strstr(text, "(mtag) S")) {
		dir = opendir("/proc/self/task");
		while ((task = readdir(dir)) && !strstr(text, "(mtag) S")) {
			snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task->d_name);
			f = fopen(path, "r");
			if (f && !fgets(text, sizeof(text), f))
				*text = '\0';
			if (f)
				fclose(f);
		}
		closedir(dir);
	}
	return barely ? (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L) : fork();
}

/* A character on standard output says how far it is; the end of standard input lets it go on. */
static void hold(void)
{
	char c;

	CHECK(write(STDOUT_FILENO, "+", 1) == 1);
	while (read(STDIN_FILENO, &c, 1) != 0)
		;
}

static int check_plain(void)
{
	struct sigaction action;

	sigaction(SIGUSR2, NULL, &action);
	CHECK(threads_here() == 1 && action.sa_handler == SIG_DFL);
	hold();
	return tap_failed != 0;
}

/* Two words for what it does: before it attaches, and then. */
static int program(const char *before, const char *then)
{
	struct rlimit small = {100, 100};
	struct sigaction action;

	if (!strcmp(before, "daemon") && fork_alone(false))
		_exit(0);
	if (!strcmp(before, "handler"))
		signal(SIGUSR2, own_handler);
	if (!strcmp(before, "ignore"))
		mtag_ignore_environment();
	if (!strcmp(before, "small")) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &small);
	}
	if (!strcmp(before, "absent"))
		fake.open_error = ENOENT;
	mtag_child(0, "a");
	if (!strcmp(before, "busy"))
		raise(SIGUSR2);
	atomic_store(&idle, true);
	if (!strcmp(then, "plain"))
		return check_plain();
	if (!strcmp(then, "fork") || !strcmp(then, "clone")) {
		pid_t pid = fork_alone(*then == 'c');

		if (!pid) {
			alarm(5);
			exit(0);
		}
		CHECK(tap_reap(pid));
	}
	hold();
	if (!strcmp(before, "handler")) {
		sigaction(SIGUSR2, NULL, &action);
		CHECK(action.sa_handler == own_handler);
	}
	CHECK(nothing_open() && count(MTAG_IOC_CHILD) <= 1);
	if (!strcmp(then, "_exit"))
		_exit(tap_failed != 0);
	return tap_failed != 0;
}

/* ---- starting it ---- */

static char dir[64];
static int to, from;

/* The environment: "NAME=" and a file of the directory; the rest of a name that has no '/' is the value. */
static void ask(const char *name, const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), "%s/%s", dir, value);
	setenv(name, strchr(name, '_') && strstr(name, "OUTPUT") && *value != '/' ? text : value,
	       1);
}

static void make_dir(void)
{
	strcpy(dir, "/tmp/mtag-env.XXXXXX");
	CHECK(mkdtemp(dir));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_dir(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static pid_t start(const char *path, const char *before, const char *then)
{
	int in[2], out[2];
	char c;
	pid_t pid;

	CHECK(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl(path, *before ? before : path, before, then, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	to = in[1];
	from = out[0];
	CHECK(read(from, &c, 1) == 1);
	return pid;
}

static void end(pid_t pid)
{
	close(to);
	CHECK(tap_reap(pid));
	close(from);
}

/* Runs it to its end. */
static pid_t run(const char *before, const char *then)
{
	pid_t pid = start("/proc/self/exe", before, then);

	end(pid);
	return pid;
}

/* ---- what it left ---- */

static int files(void)
{
	DIR *d = opendir(dir);
	int n = -2;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* The beginning of a file, or NULL. */
static const char *contents(const char *name)
{
	static char text[512];
	char path[256];
	struct stat st;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return NULL;
	CHECK(!fstat(fd, &st) && (st.st_mode & 07777) == 0600);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static bool begins(const char *name, const char *with)
{
	const char *text = contents(name);

	return text && !strncmp(text, with, strlen(with));
}

static bool appears(const char *name, const char *with)
{
	const struct timespec moment = {0, 10000000};
	int i;

	for (i = 0; i < 3000 && !begins(name, with); i++)
		nanosleep(&moment, NULL);
	return begins(name, with);
}

#define SNAPSHOT "{\"mtag_snapshot\":1,\"time_ms\":"
#define STATS	 "[{\"pid\":"
#define GRAPH	 "digraph mtag {"

/* ---- tests ---- */

static void test_plain(void)
{
	ask("MTAG_STATS_OUTPUT_JSON", "");
	ask("MTAG_SNAPSHOT_INTERVAL_SEC", "1");
	ask("MTAG_SNAPSHOT_SIGNAL", "USR2");
	setenv("MTAG_STATS_OUTPUT_JSON", "", 1);
	run("", "plain");
	/* Nor where what is asked for cannot be. */
	ask("MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH", "snap");
	ask("MTAG_SNAPSHOT_INTERVAL_SEC", "1s");
	ask("MTAG_SNAPSHOT_SIGNAL", "SEGV");
	run("", "plain");
	CHECK(files() == 0);
}

static void test_interval(void)
{
	pid_t pid;
	int i;

	ask("MTAG_SNAPSHOT_INTERVAL_SEC", "1");
	ask("MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH", "snap");
	for (i = 0; i < 2; i++) {
		pid = start("/proc/self/exe", "", "");
		CHECK(appears(i ? "snap.0002.json" : "snap.0001.json", SNAPSHOT));
		end(pid);
		if (!i)
			CHECK(begins("snap.0000.json", SNAPSHOT) && files() == 2);
	}
}

static void test_signal(void)
{
	pid_t pid;

	ask("MTAG_SNAPSHOT_SIGNAL", "SIGUSR2");
	ask("MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH", "snap-%p");
	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	ask("MTAG_STATS_OUTPUT_GRAPHVIZ_DOT", "stats.dot");
	pid = start("/proc/self/exe", "", "_exit");
	CHECK(files() == 0);
	kill(pid, SIGUSR2);
	CHECK(appears("stats.dot", GRAPH) && begins("stats.json", STATS));
	CHECK(files() == 3);
	end(pid);
}

static void test_early_signal(void)
{
	pid_t pid;

	ask("MTAG_SNAPSHOT_SIGNAL", "SIGUSR2");
	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	pid = start("/proc/self/exe", "busy", "_exit");
	CHECK(appears("stats.json", STATS));
	end(pid);
}

static void test_exit(void)
{
	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	ask("MTAG_STATS_OUTPUT_GRAPHVIZ_DOT", "stats.dot");
	run("", "_exit");
	CHECK(files() == 0);
	run("absent", "");
	CHECK(files() == 0);
	run("", "");
	CHECK(begins("stats.json", STATS) && begins("stats.dot", GRAPH) && files() == 2);
	/* And again, in place of the old ones. */
	run("", "");
	CHECK(begins("stats.json", STATS) && files() == 2);
}

static void test_fork(void)
{
	ask("MTAG_SNAPSHOT_INTERVAL_SEC", "1000");
	ask("MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH", "snap-%p");
	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	ask("MTAG_STATS_OUTPUT_GRAPHVIZ_DOT", "stats-%p.dot");
	run("", "fork");
	/* The child has a file of its own, and leaves the parent's alone. */
	CHECK(begins("stats.json", STATS) && files() == 3);
}

static void test_fork_quiet(void)
{
	pid_t pid;

	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	pid = start("/proc/self/exe", "", "fork");
	CHECK(files() == 0);
	end(pid);
	CHECK(files() == 1);
}

static void test_raw_fork(void)
{
	ask("MTAG_SNAPSHOT_INTERVAL_SEC", "1000");
	ask("MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH", "snap-%p");
	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	run("", "clone");
	CHECK(begins("stats.json", STATS) && files() == 1);
}

static void test_daemon(void)
{
	ask("MTAG_SNAPSHOT_INTERVAL_SEC", "1");
	ask("MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH", "snap");
	CHECK(tap_reap(start("/proc/self/exe", "daemon", "")));
	CHECK(appears("snap.0000.json", SNAPSHOT));
	close(to);
	/* It has ended when nobody can write any more. */
	while (read(from, dir + sizeof(dir) - 1, 1) > 0)
		;
	dir[sizeof(dir) - 1] = '\0';
}

static void test_handler(void)
{
	pid_t pid;

	ask("MTAG_SNAPSHOT_SIGNAL", "USR2");
	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	pid = start("/proc/self/exe", "handler", "_exit");
	kill(pid, SIGUSR2);
	end(pid);
	CHECK(files() == 0);
}

static void test_ignored(void)
{
	ask("MTAG_SNAPSHOT_SIGNAL", "USR2");
	ask("MTAG_SNAPSHOT_INTERVAL_SEC", "1");
	ask("MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH", "snap");
	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	run("ignore", "");
	CHECK(files() == 0);
}

static void test_errors(void)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/link", dir);
	CHECK(!symlink("/dev/null", path));
	ask("MTAG_STATS_OUTPUT_JSON", "none/such");
	ask("MTAG_STATS_OUTPUT_GRAPHVIZ_DOT", "link");
	run("", "");
	CHECK(files() == 1 && !lstat(path, &st) && S_ISLNK(st.st_mode));
	ask("MTAG_STATS_OUTPUT_JSON", "small.json");
	run("small", "");
	CHECK(files() == 1);
}

static void test_setuid(void)
{
	char path[128], command[400];

	snprintf(path, sizeof(path), "%s/copy", dir);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s && chown 65534 %s %s", (int)getpid(),
		 path, path, dir);
	/* Where root cannot give a file away there is no such program either. */
	if (getuid() || system(command) || chmod(path, 04755))
		return;
	ask("MTAG_STATS_OUTPUT_JSON", "stats.json");
	end(start(path, "", ""));
	CHECK(files() == 1);
}

#define IN_DIR(what)                                                                               \
	static void in_dir_##what(void)                                                            \
	{                                                                                          \
		make_dir();                                                                        \
		test_##what();                                                                     \
		remove_dir();                                                                      \
	}
IN_DIR(plain)
IN_DIR(interval)
IN_DIR(signal)
IN_DIR(early_signal)
IN_DIR(exit)
IN_DIR(fork)
IN_DIR(fork_quiet)
IN_DIR(raw_fork)
IN_DIR(daemon)
IN_DIR(handler)
IN_DIR(ignored)
IN_DIR(errors)
IN_DIR(setuid)

static const struct tap_test tests[] = {
	{"unless they are asked for in full there is no thread, no handler and no file",
	 in_dir_plain},
	{"there is a snapshot every so many seconds, and earlier ones stay", in_dir_interval},
	{"a signal asks for a snapshot and for the statistics", in_dir_signal},
	{"so does one that comes before the helper runs", in_dir_early_signal},
	{"statistics are written at exit, if anything was counted", in_dir_exit},
	{"a child has files of its own where the name says %p", in_dir_fork},
	{"a child without such names writes nothing", in_dir_fork_quiet},
	{"a child of clone(2) alone ends, and writes nothing", in_dir_raw_fork},
	{"a daemon that attaches after its fork has the snapshots", in_dir_daemon},
	{"a signal handler of the program's own stays", in_dir_handler},
	{"a program may ignore the environment", in_dir_ignored},
	{"what cannot be written leaves nothing behind, and devices alone", in_dir_errors},
	{"a setuid program ignores the environment", in_dir_setuid},
};

int main(int argc, char **argv)
{
	if (argc == 3)
		return program(argv[1], argv[2]);
	return tap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
