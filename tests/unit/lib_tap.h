/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For the tests of libmtag: each test in a process of its own, results in TAP. */
#ifndef LIB_TAP_H
#define LIB_TAP_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int tap_failed;

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			if (tap_failed++ < 20)                                                     \
				printf("# %s:%d: %s\n", __FILE__, __LINE__, #what);                \
		}                                                                                  \
	} while (0)

struct tap_test {
	const char *name;
	void (*run)(void);
};

/* What a process of ours ends with: buffered lines out, no handlers run. */
static inline void tap_end(void)
{
	fflush(stdout);
	_exit(tap_failed != 0);
}

/* Did that child end well? */
static inline int tap_reap(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static inline int tap_run(const struct tap_test *tests, unsigned count)
{
	unsigned i;
	int failed = 0, good;
	pid_t pid;

	printf("1..%u\n", count);
	for (i = 0; i < count; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			alarm(120);
			tests[i].run();
			tap_end();
		}
		good = tap_reap(pid);
		failed |= !good;
		printf("%sok %u - %s\n", good ? "" : "not ", i + 1, tests[i].name);
	}
	return failed;
}

#define TAP_MAIN(tests)                                                                            \
	int main(void)                                                                             \
	{                                                                                          \
		return tap_run(tests, sizeof(tests) / sizeof((tests)[0]));                         \
	}

#endif
