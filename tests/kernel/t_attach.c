// SPDX-License-Identifier: GPL-2.0
/* Attaching, being tracked and being forked while other threads of the process map, touch and unmap. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
#include "lib/netlink.h"
#include "lib/stacks.h"

#define THREADS 3
#define N	32
#define SLOTS	64 /* accounts that a CPU has cached at once: stock.h */

/* Of the long form; make check does a third on each of four kernels. */
#define ROUNDS 30
#define FORKS  300
#define TURNS  300

static int times(int all)
{
	return more(all / 3, all);
}

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
	return !compares_equal();
}

static void rounds(bool forks, const char *what)
{
	uint64_t drift = health("drift");
	int wrong = 0;

	for (int i = 0; i < times(ROUNDS); i++) {
		int status;
		pid_t pid = child();

		if (!pid)
			_exit(busy_process(forks));
		must(waitpid(pid, &status, 0));
		wrong += status != 0;
	}
	is(wrong, 0, "%s: of %d processes that attach meanwhile all are exact", what,
	   times(ROUNDS));
	is(health("drift"), drift, "%s: none that ended left anything", what);
}

/* Touches pages by two tags in turn, no two of which a CPU can have cached at once. */
static void *toucher(void *arg)
{
	const mtag_t *tags = arg;

	while (!atomic_load(&stop)) {
		char *p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

		for (size_t i = 0; i < N; i++) {
			mtag_enter(tags[i % 2]);
			((volatile char *)p)[i * PG] = 1;
		}
		must(munmap(p, N * PG));
	}
	return NULL;
}

/* A fork begins between any two instructions of an event that the hot path leaves to others. */
static void forked_meanwhile(void)
{
	pthread_t thread[THREADS];
	mtag_t tags[2];

	begin();
	tags[0] = tag("first");
	for (int i = 1; i < SLOTS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "between-%d", i);
		tag(name);
	}
	tags[1] = tag("last");
	for (int i = 0; i < THREADS; i++)
		must0(pthread_create(&thread[i], NULL, toucher, tags));
	for (int i = 0; i < times(FORKS); i++) {
		pid_t pid = child();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	exact("%d forks of threads whose accounts are not at hand: exact", times(FORKS));
}

/* With stacks each event goes the long way, on which the space is looked for again. */
static void untracked_meanwhile(void)
{
	mtag_t none[2] = {MTAG_UNTAGGED, MTAG_UNTAGGED};
	int fd = nl_open(), failed = 0;
	pthread_t thread;
	pid_t pid = child();

	if (!pid) {
		atomic_store(&stop, false);
		for (int i = 0; i < THREADS; i++)
			must0(pthread_create(&thread, NULL, toucher, none));
		pause();
	}
	for (int i = 0; i < times(TURNS); i++) {
		failed += nl_ask(fd, MTAG_CMD_TRACK, 0, pid)->error || stacks_start(pid, 1, -1);
		usleep(2000);
		failed += nl_ask(fd, MTAG_CMD_UNTRACK, 0, pid)->error != 0;
	}
	is(failed, 0, "threads that touch and unmap: tracked and untracked %d times", times(TURNS));
	close(fd);
	end_child(pid);
}

int main(void)
{
	struct gate *g = gate();
	pid_t keeper;

	need_root();
	nl_begin();
	untracked_meanwhile();
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
	forked_meanwhile();
	return done();
}
