// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The signal that asks for snapshots, at the end: it does not kill a program that exits, and a library
 * that is unloaded gives it back. Most tests execute this program again, which attaches to the module of
 * lib_fake.h and sends itself the signal at moments that its argument names.
 */
#include <pthread.h>

#include "lib_fake.h"

#define STATUS 7 /* of the program */

/* ---- the program ---- */

static bool raise_at_join, raise_at_last;
static int handled;

static void own_handler(int number)
{
	(void)number;
	handled++;
}

/* The library waits for its helper. It has written nothing yet. */
int pthread_join(pthread_t thread, void **value)
{
	int (*join)(pthread_t, void **);

	*(void **)&join = dlsym(RTLD_NEXT, "pthread_join");
	if (raise_at_join)
		raise(SIGUSR2);
	return join(thread, value);
}

/* After the library's destructor, which has no priority. */
__attribute__((destructor(101))) static void at_last(void)
{
	if (raise_at_last)
		raise(SIGUSR2);
	if (handled)
		_exit(handled == 2 ? STATUS : 1);
}

static bool child_dies(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		raise(SIGUSR2);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGUSR2;
}

static void *exit_here(void *unused)
{
	(void)unused;
	exit(STATUS);
}

/* A thread with the least stack that glibc allows; the sanitizer's frames need more, musl's library less. */
static void exit_in_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
#if defined(__SANITIZE_ADDRESS__)
	size_t bytes = 262144;
#elif defined(__GLIBC__)
	size_t bytes = 16384;
#else
	size_t bytes = 8192;
#endif

	CHECK(!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, bytes));
	CHECK(!pthread_create(&thread, &attr, exit_here, NULL));
	for (;;)
		pause();
}

static void *end_last(void *unused)
{
	usleep(100000);
	return unused;
}

/* By the main thread's end; then the program ends with its last thread, and with status 0. */
static void exit_from_main(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, end_last, NULL));
	pthread_exit(NULL);
}

static int program(const char *what)
{
	CHECK(mtag_init() == 0 && count(MTAG_IOC_ATTACH) == 1 && nothing_open());
	if (!strcmp(what, "child"))
		CHECK(child_dies());
	if (!strcmp(what, "handler"))
		signal(SIGUSR2, own_handler);
	if (!strcmp(what, "thread"))
		exit_in_thread();
	if (!strcmp(what, "main"))
		exit_from_main();
	raise_at_join = !!strcmp(what, "last");
	raise_at_last = !!strcmp(what, "join");
	return tap_failed ? 1 : STATUS;
}

/* ---- tests ---- */

static char dir[] = "/tmp/mtag-exit.XXXXXX";
static char file[64];

static void ask(void)
{
	CHECK(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/stats.json", dir);
	setenv("MTAG_SNAPSHOT_SIGNAL", "USR2", 1);
	setenv("MTAG_STATS_OUTPUT_JSON", file, 1);
}

/* Was the file written? */
static bool written(void)
{
	bool there = !unlink(file);

	rmdir(dir);
	return there;
}

/* Waits for a minute; then it does not end at all. */
static bool exits(pid_t pid, int want)
{
	int status, i;

	for (i = 0; i < 6000 && !waitpid(pid, &status, WNOHANG); i++)
		usleep(10000);
	if (i < 6000)
		return WIFEXITED(status) && WEXITSTATUS(status) == want;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return false;
}

static void exits_well(const char *what)
{
	pid_t pid;

	ask();
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "program", what, NULL);
		_exit(127);
	}
	CHECK(exits(pid, strcmp(what, "main") ? STATUS : 0));
	CHECK(written());
}

static void test_join(void)
{
	exits_well("join");
}

static void test_last(void)
{
	exits_well("last");
}

static void test_handler(void)
{
	exits_well("handler");
}

static void test_thread(void)
{
	/* Binding a function late takes glibc more stack than all the rest: it saves all registers. */
	setenv("LD_BIND_NOW", "1", 1);
	exits_well("thread");
	unsetenv("LD_BIND_NOW");
}

static void test_main(void)
{
	exits_well("main");
}

/* What the parent was asked for its child does not write: there the signal does what it did. */
static void test_child(void)
{
	exits_well("child");
}

#ifdef __GLIBC__ /* musl unloads nothing */
static void *open_plugin(int flags)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);

	CHECK(n > 0);
	path[n] = '\0';
	strcpy(strstr(path, "tests/unit/"), "tests/plugin-static.so");
	return dlopen(path, flags);
}

static bool has_default(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_DFL;
}

static void test_unloaded(void)
{
	mtag_t (*in_plugin)(const char *, char *, size_t);
	void *plugin;
	char byte;
	int i;

	for (i = 0; i < 2; i++) {
		ask();
		plugin = open_plugin(RTLD_NOW);
		CHECK(plugin);
		*(void **)&in_plugin = dlsym(plugin, "in_plugin");
		CHECK(in_plugin("a", &byte, 1) >= MTAG_ID_FIRST && !has_default(SIGUSR2));
		raise_at_join = true;
		CHECK(!dlclose(plugin) && !open_plugin(RTLD_NOW | RTLD_NOLOAD));
		CHECK(has_default(SIGUSR2) && written());
		strcpy(dir + sizeof(dir) - sizeof("XXXXXX"), "XXXXXX");
	}
}
#endif

static const struct tap_test tests[] = {
	{"a signal does no harm while a program exits, and its file is written", test_join},
	{"nor does one after that", test_last},
	{"a handler of the program's own stays to the end", test_handler},
	{"a thread of the smallest stack can write it", test_thread},
	{"the helper does not outlive all other threads", test_main},
	{"a child that writes nothing does not keep the signal", test_child},
#ifdef __GLIBC__
	{"a library that is unloaded writes the file, and gives the signal back", test_unloaded},
#endif
};

int main(int argc, char **argv)
{
	if (argc == 2)
		return program(argv[1]);
	return tap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
