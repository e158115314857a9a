// SPDX-License-Identifier: LGPL-2.1-or-later
/* libmtag on a machine without the module: every call is a no-op, and safe. */
#include <mtag.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "lib_tap.h"

static void test_values(void)
{
	struct mtag_usage u, zero;
	char buf[MTAG_PATH_BYTES];

	memset(&u, 0xff, sizeof(u));
	memset(&zero, 0, sizeof(zero));
	CHECK(!mtag_active());
	CHECK(mtag_init() == -ENOENT);
	CHECK(mtag_init() == -ENOENT);
	CHECK(!mtag_active());
	errno = 0;
	CHECK(mtag_child(MTAG_UNTAGGED, "a") == MTAG_UNTAGGED && errno == ENOENT);
	CHECK(mtag_child(7, "a") == 7);
	CHECK(mtag_child(7, NULL) == 7);
	CHECK(mtag_default(0) == -ENOENT);
	CHECK(mtag_range(buf, 1, 0, 0) == -ENOENT);
	CHECK(mtag_notify(0, 1, 0) == -ENOENT);
	CHECK(mtag_usage(0, &u) == -ENOENT && !memcmp(&u, &zero, sizeof(u)));
	CHECK(mtag_path(0, buf, sizeof(buf)) == buf && !buf[0]);
	CHECK(!mtag_path(0, buf, 0) && errno == ERANGE);
	CHECK(!mtag_path(2, buf, sizeof(buf)) && errno == ENOENT);
	CHECK(mtag_write(stdout, MTAG_JSON) == -ENOENT);
	CHECK(mtag_write(stdout, (enum mtag_format)7) == -EINVAL);
	mtag_ignore_environment();
	CHECK(mtag_failures() == 0);
}

static void test_nesting(void)
{
	mtag_t a, b;

	CHECK(mtag_current() == 0);
	a = mtag_enter(5);
	CHECK(a == 0 && mtag_current() == 5);
	b = mtag_enter(6);
	CHECK(b == 5 && mtag_current() == 6);
	{
		MTAG_SCOPE("x");
		MTAG_SCOPE("y");
		CHECK(mtag_current() == 6);
	}
	mtag_leave(b);
	CHECK(mtag_current() == 5);
	mtag_leave(a);
	CHECK(mtag_current() == 0);
}

static void test_errno(void)
{
	mtag_t previous;

	errno = 42;
	previous = mtag_enter(1);
	CHECK(errno == 42);
	mtag_current();
	CHECK(errno == 42);
	{
		MTAG_SCOPE("x");
		CHECK(errno == 42);
	}
	mtag_leave(previous);
	CHECK(errno == 42);
	mtag_init();
	CHECK(errno == 42);
}

static void nest(unsigned depth)
{
	mtag_t previous = mtag_enter(depth);

	{
		MTAG_SCOPE("deeper");
		CHECK(mtag_current() == depth);
		if (depth < 100)
			nest(depth + 1);
	}
	CHECK(mtag_current() == depth);
	mtag_leave(previous);
}

static void *nest_often(void *arg)
{
	int i;

	for (i = 0; i < 100; i++)
		nest(1);
	CHECK(mtag_current() == 0);
	return arg;
}

static void test_threads(void)
{
	pthread_t threads[16];
	int i;

	for (i = 0; i < 16; i++)
		CHECK(!pthread_create(&threads[i], NULL, nest_often, NULL));
	for (i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
}

static void test_fork(void)
{
	mtag_t previous = mtag_enter(9);
	pid_t pid = fork();

	if (!pid) {
		CHECK(mtag_current() == 9);
		mtag_leave(previous);
		CHECK(mtag_current() == 0);
		tap_end();
	}
	CHECK(tap_reap(pid));
	CHECK(mtag_current() == 9);
}

static volatile sig_atomic_t handled;

static void on_signal(int sig)
{
	mtag_t before = mtag_current(), previous = mtag_enter(77);

	(void)sig;
	{
		MTAG_SCOPE("handler");
		mtag_child(77, "handler");
	}
	mtag_leave(previous);
	if (mtag_current() == before)
		handled++;
}

static void test_signals(void)
{
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	int i;

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 1000 || handled < 20; i++)
		nest(1);
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK(mtag_current() == 0);
}

/* The sanitizer's search for leaks, where there is one, makes that call, too. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

/* A sandbox that forbids a call which no C library makes at exit. */
static void enter_sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(2);
}

static void test_sandbox(void)
{
	pid_t pid;

	mtag_init();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		enter_sandbox();
		exit(0);
	}
	CHECK(tap_reap(pid));
}

static const struct tap_test tests[] = {
	{"every call says that there is no module", test_values},
	{"entering and leaving nest", test_nesting},
	{"errno is left alone", test_errno},
	{"each thread has a tag of its own", test_threads},
	{"a forked child goes on with its parent's tag", test_fork},
	{"signal handlers may do the same", test_signals},
	{"a program in a sandbox may exit", test_sandbox},
};

int main(void)
{
	if (!access("/dev/mtag", F_OK)) {
		printf("1..0 # SKIP this machine has the module\n");
		return 0;
	}
	return tap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
