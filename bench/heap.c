// SPDX-License-Identifier: GPL-2.0
/*
 * heap [rivals]: what libmtag-heap adds to a pair of malloc() and free(), in instructions, samples
 * and all: the program runs itself without it, with it preloaded, and with exact counts. Prints
 * rows of bench/run.
 *
 * With "rivals", what Debian's heap profilers add: jemalloc's to jemalloc, heaptrack to glibc.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "clock.h"

#define PAIRS	  200000
#define ROUNDS	  5

#define LIBRARY	  "build/lib/libmtag-heap.so"
#define JEMALLOC  "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
#define HEAPTRACK "/usr/lib/heaptrack/libheaptrack_preload.so"

struct way {
	const char *name, *library, *setting, *budget, *note;
};

/* Measured once in the same way: it is not in Debian. docs/performance.md. */
#define MALLOC_TAG "malloc-tag: +163 to +518"

/* The first of each list is what the others are compared with. */
static const struct way ours[] = {
	{"none", NULL, NULL, "", ""},
	{"sampled", LIBRARY, "MTAG_HEAP=sampled", "12", MALLOC_TAG},
	{"exact", LIBRARY, "MTAG_HEAP=exact", "25", MALLOC_TAG},
	{NULL, NULL, NULL, NULL, NULL},
};

static const struct way jemalloc[] = {
	{NULL, JEMALLOC, NULL, "", ""},
	{"jemalloc's profiler, beside jemalloc", JEMALLOC, "MALLOC_CONF=prof:true", "", ""},
	{NULL, NULL, NULL, NULL, NULL},
};

static const struct way heaptrack[] = {
	{NULL, NULL, NULL, "", ""},
	{"heaptrack", HEAPTRACK, "DUMP_HEAPTRACK_OUTPUT=/tmp/heaptrack", "", ""},
	{NULL, NULL, NULL, NULL, NULL},
};

/* The cost of one pair, of sizes that are usual in programs. */
static double measure(void)
{
	static const size_t sizes[] = {24, 100, 64, 16, 200, 48, 400, 32};
	double start, least = 1e18;
	void *volatile p;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		start = now();
		for (i = 0; i < PAIRS; i++) {
			p = malloc(sizes[i % 8]);
			free(p);
		}
		least = min(least, (now() - start) / PAIRS);
	}
	return least;
}

/* In a process of its own, since the library is there from the start. */
static double run(const struct way *way, char *self)
{
	char library[PATH_MAX];
	int out[2], status;
	double cost = 0;
	pid_t pid;

	if (way->library && !realpath(way->library, library)) {
		fprintf(stderr, "heap: there is no %s\n", way->library);
		exit(1);
	}
	must(pipe(out));
	pid = must(fork());
	if (!pid) {
		must(dup2(out[1], 1));
		if (way->library)
			setenv("LD_PRELOAD", library, 1);
		if (way->setting)
			putenv((char *)way->setting);
		execl(self, self, "measure", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	if (read(out[0], &cost, sizeof(cost)) != sizeof(cost) || waitpid(pid, &status, 0) != pid ||
	    status) {
		fprintf(stderr, "heap: %s cannot be measured\n", way->library ?: "glibc");
		exit(1);
	}
	close(out[0]);
	return cost;
}

static void compare(const struct way *way, char *self)
{
	double bare = run(way, self);

	if (way->name)
		printf("malloc and free, heap view: %s\t%.1f\t\n", way->name, bare);
	while ((++way)->library)
		printf("malloc and free, heap view: %s\t%+.1f\t%s\t%s\n", way->name,
		       run(way, self) - bare, way->budget, way->note);
}

int main(int argc, char **argv)
{
	double cost;

	if (argc > 1 && !strcmp(argv[1], "measure")) {
		cost = measure();
		return write(1, &cost, sizeof(cost)) != sizeof(cost);
	}
	if (argc > 1) {
		compare(jemalloc, argv[0]);
		compare(heaptrack, argv[0]);
	} else {
		compare(ours, argv[0]);
	}
	return 0;
}
