// SPDX-License-Identifier: GPL-2.0
/*
 * A program that knows nothing of libmtag loads it, and a shared library that uses it: its words
 * are initial-exec TLS, for which the C library must have kept room. With the module, too: then
 * the kernel's counts are compared.
 */
// link: -ldl
#include <mtag.h>

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PG 4096
#define N  16

static struct {
	int (*init)(void);
	bool (*active)(void);
	mtag_t (*enter)(mtag_t);
	void (*leave)(mtag_t);
	mtag_t (*current)(void);
	int (*usage)(mtag_t, struct mtag_usage *);
	mtag_t (*in_plugin)(const char *, char *, size_t);
} call;

static sem_t loaded;
static int tests, failed;

static void ok(int good, const char *name)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tests, name);
	failed |= !good;
}

/* The place of what was built with this program. */
static const char *beside(const char *name)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);

	if (n < 0)
		exit(2);
	path[n] = '\0';
	strcpy(strstr(path, "tests/abi/"), name);
	return path;
}

static void find(void *library, const char *name, void *function)
{
	*(void **)function = dlsym(library, name);
	if (!*(void **)function) {
		printf("Bail out! no %s\n", name);
		exit(2);
	}
}

/* The pages that this thread touches in the plugin's scope are that scope's. */
static int works(const char *name)
{
	char *p = mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mtag_t before = call.enter(7), in;
	struct mtag_usage u;
	int good = p != MAP_FAILED && call.current() == 7;

	call.leave(before);
	good &= call.current() == before;
	madvise(p, N * PG, MADV_NOHUGEPAGE);
	in = call.in_plugin(name, p, N * PG);
	good &= call.current() == before;
	if (call.active())
		good &= !call.usage(in, &u) && u.anon_bytes == N * PG;
	munmap(p, N * PG);
	return good;
}

static void *early_thread(void *unused)
{
	(void)unused;
	while (sem_wait(&loaded))
		;
	return (void *)(long)works("early");
}

static void *late_thread(void *unused)
{
	(void)unused;
	return (void *)(long)works("late");
}

static void *open_or_explain(const char *name)
{
	void *library = dlopen(beside(name), RTLD_NOW);

	if (!library)
		printf("# %s\n", dlerror());
	return library;
}

/* musl keeps no room, and refuses: with such a C library it has to be there from the start. */
static void *open_first(char **argv)
{
	void *library = open_or_explain("lib/libmtag.so");

#ifndef __GLIBC__
	if (!getenv("LD_PRELOAD")) {
		if (library)
			dlclose(library);
		setenv("LD_PRELOAD", beside("lib/libmtag.so"), 1);
		execv("/proc/self/exe", argv);
	}
#endif
	(void)argv;
	return library;
}

int main(int argc, char **argv)
{
	pthread_t early, late;
	void *library, *plugin, *good;
	int status = 1;
	pid_t pid;

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sem_init(&loaded, 0, 0);
	if (pthread_create(&early, NULL, early_thread, NULL))
		return 2;
	library = open_first(argv);
	ok(library != NULL, "the library can be loaded");
	plugin = library ? open_or_explain("tests/plugin.so") : NULL;
	ok(plugin != NULL, "and a shared library that uses it");
	if (!plugin)
		return 1;
	find(library, "mtag_init", &call.init);
	find(library, "mtag_active", &call.active);
	find(library, "mtag_enter", &call.enter);
	find(library, "mtag_leave", &call.leave);
	find(library, "mtag_current", &call.current);
	find(library, "mtag_usage", &call.usage);
	find(plugin, "in_plugin", &call.in_plugin);

	printf("# %s\n", call.init() ? "without the module" : "with the module");
	ok(works("main"), "the main thread has a word");
	sem_post(&loaded);
	ok(!pthread_join(early, &good) && good, "so has a thread that was there before");
	ok(!pthread_create(&late, NULL, late_thread, NULL) && !pthread_join(late, &good) && good,
	   "and one that comes later");
	pid = fork();
	if (!pid)
		_exit(!works("child"));
	ok(waitpid(pid, &status, 0) == pid && !status, "and a forked child");
	ok(!dlclose(plugin) && !dlclose(library), "both can be closed");
	pid = fork();
	if (!pid)
		_exit(0);
	ok(waitpid(pid, &status, 0) == pid && !status, "and the process forks on");
	printf("1..%d\n", tests);
	return failed;
}
