// SPDX-License-Identifier: GPL-2.0
/*
 * Threads on all CPUs that touch and unmap pages under one tag, under one each, or under tags that take each other's
 * place in what a CPU has cached: readers meanwhile see each page exactly once, and what stays is what smaps says.
 */
/* vm: also=7.3-rt group=machine mem=1G cpus=4 dimm=512M append=preempt=full,init_on_free=1 timeout=300 */
#include <sched.h>
#include <sys/sysinfo.h>
#include "lib/netlink.h"

#define THREADS 4
#define STILL	100 /* pages that each tag keeps */
#define SLOTS	64  /* accounts that a CPU has cached; tags this far apart share a place */

static mtag_t tags[2 * SLOTS + THREADS];
static char *
	still; /* STILL pages of each of the first THREADS tags, and of those SLOTS and 2 * SLOTS further on */
static atomic_int running;
static pthread_barrier_t together;

/* Of which tags a thread touches a page, in turns */
struct way {
	const char *what;
	size_t turns;
	size_t (*which)(size_t thread, size_t turn);
};

static size_t one(size_t thread, size_t turn)
{
	(void)thread, (void)turn;
	return 0;
}

static size_t own(size_t thread, size_t turn)
{
	(void)turn;
	return thread;
}

static size_t same_place(size_t thread, size_t turn)
{
	return thread % 2 + turn * SLOTS;
}

static const struct way ways[] = {
	{"one tag", 1, one},
	{"one tag each", 1, own},
	{"tags in one place", 3, same_place},
};

struct worker {
	const struct way *way;
	size_t i;
	char *page;
};

/* Has one page more than what stays, or none, at any moment. */
static void *work(void *arg)
{
	const struct worker *w = arg;
	size_t rounds = more(1000, 4000);
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(w->i % get_nprocs(), &cpu);
	must(sched_setaffinity(0, sizeof(cpu), &cpu));
	pthread_barrier_wait(&together);
	for (size_t n = 0; n < rounds; n++) {
		touch(tags[w->way->which(w->i, n % w->way->turns)], w->page, PG);
		must(madvise(w->page, PG, MADV_DONTNEED));
		if (n % 512 == w->i)
			sched_yield();
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static bool within(uint64_t bytes)
{
	return bytes >= STILL * PG && bytes <= (STILL + THREADS) * PG;
}

/* Reads all tags that are in use one by one, and all together. Returns how many numbers were wrong. */
static size_t read_once(int fd, size_t used, uint64_t *first_wrong)
{
	uint64_t least = 3 * THREADS * STILL * PG;
	const struct nlattr *attr;
	struct heard *heard;
	size_t wrong = 0;
	uint64_t bytes;

	for (size_t i = 0; i < used; i++) {
		bytes = anon_of(tags[i % THREADS + i / THREADS * SLOTS]);
		if (!within(bytes) && !wrong++)
			*first_wrong = bytes;
	}
	heard = nl_ask(fd, MTAG_CMD_PROC_GET, 0, getpid());
	attr = heard->messages ? nl_attr((const void *)heard->buf, MTAG_A_PROC_ANON) : NULL;
	if (!attr)
		bail("no sums");
	memcpy(&bytes, attr + 1, sizeof(bytes));
	/* Stacks, the heap and what tests have are there, too: only a part of them may come or go. */
	if (bytes < least && !wrong++)
		*first_wrong = bytes;
	return wrong;
}

static void contend(const struct way *way)
{
	struct worker w[THREADS];
	pthread_t thread[THREADS];
	size_t reads = 0, wrong = 0;
	uint64_t first_wrong = 0;
	char *pages = area(THREADS * PG);
	int fd = nl_open();

	atomic_store(&running, THREADS);
	must0(pthread_barrier_init(&together, NULL, THREADS + 1));
	for (size_t i = 0; i < THREADS; i++) {
		w[i] = (struct worker){way, i, pages + i * PG};
		must0(pthread_create(&thread[i], NULL, work, &w[i]));
	}
	pthread_barrier_wait(&together);
	for (; atomic_load(&running); reads++)
		wrong += read_once(fd, 3 * THREADS, &first_wrong);
	for (size_t i = 0; i < THREADS; i++)
		must0(pthread_join(thread[i], NULL));
	ok(reads > 0, "%s: all tags are read meanwhile (%zu times)", way->what, reads);
	is(wrong, 0, "%s: each reading sees each page once (%" PRIu64 ")", way->what, first_wrong);
	wrong = 0;
	for (size_t i = 0; i < 3 * THREADS; i++) {
		size_t n = i % THREADS + i / THREADS * SLOTS;

		if (anon_of(tags[n]) != STILL * PG)
			wrong++;
	}
	is(wrong, 0, "%s: at the end each tag has what stays", way->what);
	exact("%s: the sums are what the kernel says", way->what);
	must(munmap(pages, THREADS * PG));
	close(fd);
}

int main(void)
{
	char name[16];

	begin_test();
	begin();
	nl_begin();
	for (size_t i = 0; i < COUNT(tags); i++) {
		snprintf(name, sizeof(name), "tag-%zu", i);
		tags[i] = tag(name);
	}
	still = area(3 * THREADS * STILL * PG);
	for (size_t i = 0; i < 3 * THREADS; i++)
		touch(tags[i % THREADS + i / THREADS * SLOTS], still + i * STILL * PG, STILL * PG);
	for (size_t i = 0; i < COUNT(ways); i++)
		contend(&ways[i]);
	return end_test();
}
