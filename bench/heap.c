// SPDX-License-Identifier: GPL-2.0
/*
 * What libmtag-heap adds to a pair of malloc() and free(), in instructions, samples and all: the program
 * runs itself without it, with it preloaded, and with exact counts. Prints rows of bench/run.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "clock.h"

#define PAIRS  200000
#define ROUNDS 5

static const struct way {
	const char *name, *mode, *budget;
} ways[] = {
	{"none", NULL, ""},
	{"sampled", "sampled", "12"},
	{"exact", "exact", "25"},
};

/* Of one pair, of sizes as programs have them. */
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
static double run(const struct way *way, char *self, const char *library)
{
	int out[2], status;
	double cost = 0;
	pid_t pid;

	must(pipe(out));
	pid = must(fork());
	if (!pid) {
		must(dup2(out[1], 1));
		if (way->mode) {
			setenv("LD_PRELOAD", library, 1);
			setenv("MTAG_HEAP", way->mode, 1);
		}
		execl(self, self, "measure", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	if (read(out[0], &cost, sizeof(cost)) != sizeof(cost) || waitpid(pid, &status, 0) != pid ||
	    status) {
		fprintf(stderr, "heap: %s cannot be measured\n", way->name);
		exit(1);
	}
	close(out[0]);
	return cost;
}

int main(int argc, char **argv)
{
	char library[PATH_MAX];
	double bare = 0, cost;
	unsigned i;

	if (argc > 1) {
		cost = measure();
		return write(1, &cost, sizeof(cost)) != sizeof(cost);
	}
	if (!realpath("build/lib/libmtag-heap.so", library)) {
		fprintf(stderr, "heap: there is no build/lib/libmtag-heap.so\n");
		return 1;
	}
	for (i = 0; i < 3; i++) {
		cost = run(&ways[i], argv[0], library);
		if (!i)
			bare = cost;
		printf(i ? "malloc and free, heap view: %s\t%+.1f\t%s\n"
			 : "malloc and free, heap view: %s\t%.1f\t%s\n",
		       ways[i].name, i ? cost - bare : cost, ways[i].budget);
	}
	return 0;
}
