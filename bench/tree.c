// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what could grow with the number of CPUs that the machine may get: a fork of a process with
 * 1,000 tags, what reading them costs, and the memory of an account with its tag. Prints rows as
 * cost.c does; bench/run boots it with other numbers of CPUs.
 */
#include <stdbool.h>
#include <sys/wait.h>
#include "area.h"
#include "busy.h"
#include "clock.h"
#include "health.h"
#include "mtag.h"
#include "reading.h"

#define TAGS 1000

/* The call, or all that comes of it: the child's end, and what is put off. */
static double fork_tagged(bool all)
{
	double best = 1e18, start;
	char c = 0;
	int fds[2];
	pid_t pid;

	must(pipe(fds));
	for (int i = 0; i < 5; i++) {
		double forked, busy_before = busy();

		start = now();
		pid = must(fork());
		if (!pid)
			_exit(read(fds[0], &c, 1) != 1);
		forked = now() - start;
		must(write(fds[1], &c, 1));
		must(waitpid(pid, NULL, 0));
		best = min(best, all ? busy() - busy_before : forked);
	}
	return best;
}

static void make_tags(char *area)
{
	for (int i = 0; i < TAGS; i++) {
		char name[16];
		mtag_t tag;

		snprintf(name, sizeof(name), "tag%d", i);
		tag = mtag_child(MTAG_UNTAGGED, name);
		if (tag == MTAG_UNTAGGED) {
			perror("mtag_child");
			exit(1);
		}
		mtag_enter(tag);
		area[i * PG] = 1;
		mtag_leave(MTAG_UNTAGGED);
	}
}

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct reading cost;
	double before;
	char *area;

	area = map(TAGS * PG, HPAGE, MADV_NOHUGEPAGE);
	if (mtag_init()) {
		fprintf(stderr, "tree: cannot be tracked\n");
		return 4;
	}
	before = health("memory");
	make_tags(area);
	printf("bytes of an account and its tag: %ld possible CPUs\t%.0f\t96\n", cpus,
	       (health("memory") - before) / TAGS);
	cost = reading();
	printf("read 1,000 tags with a page each: %ld possible CPUs\t%.0f\t\n", cpus, cost.dump);
	printf("read a process with 1,000 tags with a page each, sums only: %ld possible CPUs\t%.0f\t\n",
	       cpus, cost.sums);
	printf("fork of a process with 1,000 tags: %ld possible CPUs\t%.0f\t\n", cpus,
	       fork_tagged(false));
	printf("fork and end of a process with 1,000 tags: %ld possible CPUs\t%.0f\t\n", cpus,
	       fork_tagged(true));
	return 0;
}
