// SPDX-License-Identifier: GPL-2.0
/*
 * What an account takes, and what a fork of many of them and reading them cost, do not depend on how many CPUs there
 * could be. The clock counts instructions.
 */
/* vm: only=6.1 stock=1 because="the clock that counts instructions is slow; sanitizers cost more" icount=1 group=accounts-2 append=possible_cpus=2 timeout=600 */
/* vm: only=6.1 stock=1 because="the clock that counts instructions is slow; sanitizers cost more" icount=1 group=accounts-64 append=possible_cpus=64 timeout=600 */
#include <limits.h>
#include "lib/netlink.h"

#define TAGS 1000
#define EACH 96			/* bytes of an account and its tag */
#define FORK (607900 * 12 / 10) /* instructions: 1.2 times as many as with 2 possible CPUs */
#define READ 65000		/* with what the reader itself does with the answer */

static long at(void)
{
	struct timespec t;

	must0(clock_gettime(CLOCK_MONOTONIC, &t));
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static long forked(void)
{
	long start = at(), took;
	pid_t pid = child();

	if (!pid)
		_exit(0);
	took = at() - start;
	reap(pid);
	return took;
}

static long sums_read(void)
{
	int fd = nl_open();
	long start = at(), took;
	struct heard *heard = nl_ask(fd, MTAG_CMD_PROC_GET, 0, getpid());

	took = at() - start;
	if (heard->error)
		bail("no sums: %d", heard->error);
	close(fd);
	return took;
}

static long least(long (*cost)(void))
{
	long best = LONG_MAX;

	for (int i = 0; i < 5; i++) {
		long took = cost();

		best = took < best ? took : best;
	}
	return best;
}

int main(void)
{
	uint64_t before, grown;
	long took;

	begin_test();
	begin();
	nl_begin();
	diag("%s possible CPUs", slurp("/sys/devices/system/cpu/possible"));
	before = health("memory");
	for (int i = 0; i < TAGS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "tag-%d", i);
		tag(name);
	}
	grown = (health("memory") - before) / TAGS;
	ok(grown <= EACH, "an account and its tag take %" PRIu64 " bytes, at most %d", grown, EACH);
	took = least(forked);
	ok(took <= FORK, "a fork of %d accounts takes %ld instructions, at most %d", TAGS, took,
	   FORK);
	took = least(sums_read);
	ok(took <= READ, "to read their sums takes %ld instructions, at most %d", took, READ);
	exact("all is exact");
	return end_test();
}
