// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pair SIZE [VARIABLE=VALUE…]: how many instructions of user space malloc(SIZE) and free() take, in a
 * program with these variables. It runs itself with them, and steps it through the calls.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAIRS 50

extern char **environ;

/* Between two breakpoints. What is done once is done before. */
static int run(size_t size)
{
	void *volatile p;
	int i;

	for (i = 0; i < 100; i++) {
		p = malloc(size);
		free(p);
	}
	__asm__ volatile("int3" : : : "memory");
	for (i = 0; i < PAIRS; i++) {
		p = malloc(size);
		free(p);
	}
	__asm__ volatile("int3" : : : "memory");
	return 0;
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	for (i = 2; argv[i]; i++)
		putenv(argv[i]);
	putenv("MTAG_HEAP_PAIR=1");
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execl("/proc/self/exe", argv[0], argv[1], (char *)NULL);
	_exit(127);
}

/* From breakpoint to breakpoint; -1: it ended before. */
static long count(pid_t pid)
{
	int status, stops = 0;
	long steps = 0;

	/* The first stop is exec's own. */
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		siginfo_t info;

		ptrace(PTRACE_GETSIGINFO, pid, NULL, &info);
		if (info.si_code == SI_KERNEL && ++stops == 2) {
			ptrace(PTRACE_CONT, pid, NULL, NULL);
			waitpid(pid, &status, 0);
			return steps;
		}
		steps += stops == 1;
		ptrace(stops ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, NULL);
	}
	return -1;
}

int main(int argc, char **argv)
{
	long steps;

	if (argc < 2)
		return 2;
	if (getenv("MTAG_HEAP_PAIR"))
		return run((size_t)atol(argv[1]));
	steps = count(start(argv));
	printf("%.1f\n", (double)steps / PAIRS);
	return steps < 0;
}
