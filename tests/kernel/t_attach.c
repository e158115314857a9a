// SPDX-License-Identifier: GPL-2.0
/* Attaching and being tracked while other threads of the process map, touch, unmap and fork. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
#include "lib/test.h"

#define THREADS 3
#define ROUNDS	30
#define N	32

static atomic_bool stop;
static atomic_int turns;

static void *mapper(void *arg)
{
	bool forks = arg;

	for (unsigned i = 0; !atomic_load(&stop); i++) {
		char *p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

		for (size_t at = 0; at < N * PG; at += PG)
			((volatile char *)p)[at] = 1;
		if (forks && i % 8 == 0) {
			pid_t pid = child();

			if (!pid)
				_exit(0);
			waitpid(pid, NULL, 0);
		}
		must(munmap(p, N * PG));
		atomic_fetch_add(&turns, 1);
	}
	return NULL;
}

/* A process in which one thread attaches while others are busy; returns 0 if it is exact in the end. */
static int busy_process(bool forks)
{
	pthread_t thread[THREADS];
	struct compared c;

	for (uintptr_t i = 0; i < THREADS; i++)
		must0(pthread_create(&thread[i], NULL, mapper, (void *)(uintptr_t)forks));
	if (!until(atomic_load(&turns) >= 2, 60))
		bail("the threads do not get going");
	begin();
	if (!until(atomic_load(&turns) >= 6, 60))
		bail("the threads do not go on");
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	c = compare();
	if (!c.equal)
		show_compared(&c);
	return !c.equal;
}

static void rounds(bool forks, const char *what)
{
	uint64_t drift = health("drift");
	int wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int status;
		pid_t pid = child();

		if (!pid)
			_exit(busy_process(forks));
		must(waitpid(pid, &status, 0));
		wrong += status != 0;
	}
	is(wrong, 0, "%s: of %d processes that attach meanwhile all are exact", what, ROUNDS);
	is(health("drift"), drift, "%s: none that ended left anything", what);
}

int main(void)
{
	struct gate *g = gate();
	pid_t keeper;

	need_root();
	/* This process itself is not tracked, or its children were from their start. */
	keeper = child();
	if (!keeper) {
		begin();
		open_gate(g, 1);
		pause();
	}
	pass_gate(g, 1);
	rounds(false, "threads that map and unmap");
	rounds(true, "threads that fork, too");
	kill(keeper, SIGKILL);
	waitpid(keeper, NULL, 0);
	return done();
}
