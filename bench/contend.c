// SPDX-License-Identifier: GPL-2.0
/*
 * Touches and unmaps pages with a thread on each CPU, all under one tag, or each under its own.
 *   contend one|each
 * Prints the number of first touches; bench/contend.sh counts what the module does for them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include "mtag.h"

#define CPUS   64
#define PAGES  512
#define ROUNDS 40
#define PG     4096UL

struct worker {
	pthread_t thread;
	mtag_t tag;
	int cpu;
};

static pthread_barrier_t together;

static void *work(void *arg)
{
	const struct worker *w = arg;
	cpu_set_t cpu;
	char *p;

	CPU_ZERO(&cpu);
	CPU_SET(w->cpu, &cpu);
	p = mmap(NULL, PAGES * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) || p == MAP_FAILED ||
	    madvise(p, PAGES * PG, MADV_NOHUGEPAGE))
		return NULL;
	mtag_enter(w->tag);
	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		for (size_t at = 0; at < PAGES * PG; at += PG)
			((volatile char *)p)[at] = 1;
		if (madvise(p, PAGES * PG, MADV_DONTNEED))
			return NULL;
	}
	return arg;
}

int main(int argc, char **argv)
{
	static struct worker w[CPUS];
	int n = get_nprocs() < CPUS ? get_nprocs() : CPUS;
	char name[16];
	void *done;

	if (argc != 2 || mtag_init())
		return 2;
	pthread_barrier_init(&together, NULL, n);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "tag-%d", strcmp(argv[1], "one") ? i : 0);
		w[i].tag = mtag_child(MTAG_UNTAGGED, name);
		w[i].cpu = i;
		if (pthread_create(&w[i].thread, NULL, work, &w[i]))
			return 1;
	}
	for (int i = 0; i < n; i++) {
		if (pthread_join(w[i].thread, &done) || !done)
			return 1;
	}
	printf("%d\n", n * ROUNDS * PAGES);
	return 0;
}
