// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of mtag, in instructions. The clock must count them (tests/vm/run --icount).
 *
 * The same work is done with no hook installed, by an untracked process while another is tracked,
 * by a tracked process, and by one that has a tag. They take turns in one boot, since costs differ
 * between boots by more than the differences measured here. Each number is the minimum of several.
 *
 * Prints one "name<tab>measured<tab>budget" per line; the budget is empty if there is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mtag.h"
#include "uapi/linux/mtag.h"
#include "clock.h"
#include "health.h"
#include "pages.h"
#include "reading.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TAGS	 1000

/* The process that does the work: started for it, and named after its state. */
enum who { NONE, UNTRACKED, TRACKED, TAGGED, WHO };

static const char *const who_name[WHO] = {"none", "untracked", "tracked", "tagged"};

/*
 * Budgets are differences from NONE, or a part of it in percent. What makes many tags comes late:
 * their number changes other costs. The fixed cost of a fork and an exit is spread over 64 MiB.
 */
static const struct work {
	const char *name;
	double (*run)(void);
	const char *budget[WHO];
} works[] = {
	{"first touch, 4 KiB", small_come, {"", "10", "55", "55"}},
	{"unmap, 4 KiB", small_go, {"", "10", "40", "40"}},
	{"first touch, 2 MiB", huge_come, {"", "120", "120", "120"}},
	{"unmap, 2 MiB", huge_go, {"", "300", "300", "300"}},
	{"map, a shared page", file_come, {"", "12", "60", "60"}},
	{"unmap, a shared page", file_go, {"", "10", "60", "60"}},
	{"copy-on-write", copy_on_write, {"", "20", "200", "200"}},
	{"fork, a page", fork_page, {"", "2", "2", "2"}},
	{"exit, a page", exit_page, {"", "15", "15", "15"}},
	{"fork and end, a small process", fork_and_end, {}},
	{"fork, exec and end of /bin/true", fork_exec_and_end, {"", "1.5%", "5%", "5%"}},
	{"map, a shared page, 1,000 ranges", many_come, {"", "12", "60", "60"}},
	{"unmap, a shared page, 1,000 ranges", many_go, {"", "10", "60", "60"}},
	{"malloc and free", malloc_pair, {"", "0", "0", "0"}},
};

/* Of a whole process: see main(). */
static bool is_fork(const struct work *work)
{
	return work->run == fork_and_end || work->run == fork_exec_and_end;
}

struct worker {
	pid_t pid;
	int ask, answer;
};

static void work_as(enum who who, int ask, int answer)
{
	uint8_t index;
	double cost;

	is_tracked = who >= TRACKED;
	if (is_tracked && mtag_init())
		_exit(1);
	if (who == TAGGED)
		mtag_enter(mtag_child(MTAG_UNTAGGED, "bench"));
	while (read(ask, &index, 1) == 1) {
		cost = works[index].run();
		must(write(answer, &cost, sizeof(cost)));
	}
	_exit(0);
}

static struct worker start(enum who who)
{
	int ask[2], answer[2];
	struct worker w;

	must(pipe2(ask, O_CLOEXEC));
	must(pipe2(answer, O_CLOEXEC));
	w.pid = must(fork());
	if (!w.pid) {
		close(ask[1]);
		close(answer[0]);
		work_as(who, ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	w.ask = ask[1];
	w.answer = answer[0];
	return w;
}

static double ask(const struct worker *w, uint8_t index)
{
	double cost;

	must(write(w->ask, &index, 1));
	if (read(w->answer, &cost, sizeof(cost)) != sizeof(cost)) {
		fprintf(stderr, "cost: a worker ended in \"%s\"\n", works[index].name);
		exit(1);
	}
	return cost;
}

static void stop(struct worker *w)
{
	close(w->ask);
	close(w->answer);
	kill(w->pid, SIGKILL);
	must(waitpid(w->pid, NULL, 0));
}

static void until_idle(void)
{
	while (health("installed") > 0)
		usleep(10000);
}

/* One round of the works that are @forks or that are not: first without hooks, then all states. */
static void round_of(double cost[COUNT(works)][WHO], bool forks)
{
	struct worker w[WHO] = {[NONE] = start(NONE)};

	until_idle();
	for (size_t i = 0; i < COUNT(works); i++)
		if (is_fork(&works[i]) == forks)
			cost[i][NONE] = min(cost[i][NONE], ask(&w[NONE], i));
	stop(&w[NONE]);
	/* Start fresh workers, as for NONE: earlier work of a process changes its costs. */
	for (int who = UNTRACKED; who < WHO; who++)
		w[who] = start(who);
	for (size_t i = 0; i < COUNT(works); i++) {
		if (is_fork(&works[i]) != forks)
			continue;
		/* A worker that answers is tracked. This also warms it up. */
		ask(&w[TRACKED], COUNT(works) - 1);
		ask(&w[TAGGED], COUNT(works) - 1);
		for (int who = UNTRACKED; who < WHO; who++)
			cost[i][who] = min(cost[i][who], ask(&w[who], i));
	}
	for (int who = UNTRACKED; who < WHO; who++)
		stop(&w[who]);
}

static void print_cost(const struct work *work, const double cost[WHO])
{
	printf("%s: none\t%.1f\t\n", work->name, cost[NONE]);
	for (int who = UNTRACKED; who < WHO; who++) {
		const char *budget = work->budget[who] ?: "";

		printf("%s: %s\t%+.1f\t", work->name, who_name[who], cost[who] - cost[NONE]);
		if (strchr(budget, '%'))
			printf("%.1f\n", atof(budget) / 100 * cost[NONE]);
		else
			printf("%s\n", budget);
	}
}

static void pages(int rounds, bool forks)
{
	double cost[COUNT(works)][WHO];

	for (size_t i = 0; i < COUNT(works); i++)
		for (int who = 0; who < WHO; who++)
			cost[i][who] = 1e12;
	while (rounds--)
		round_of(cost, forks);
	for (size_t i = 0; i < COUNT(works); i++)
		if (is_fork(&works[i]) == forks)
			print_cost(&works[i], cost[i]);
}

/*
 * The cost of freeing swap depends on the place in swap, and so on its earlier contents. So one
 * process alternates between no hooks and, while another process is tracked, hooks. The budget is
 * one percent.
 */
static void swapped(int rounds)
{
	double none = 1e12, untracked = 1e12;
	char budget[16];

	swap_go();
	while (rounds--) {
		struct worker w;

		until_idle();
		none = min(none, swap_go());
		w = start(TRACKED);
		ask(&w, COUNT(works) - 1);
		untracked = min(untracked, swap_go());
		stop(&w);
	}
	snprintf(budget, sizeof(budget), "%.1f", none / 100);
	printf("unmap, 4 KiB in swap: none\t%.1f\t\n", none);
	printf("unmap, 4 KiB in swap: untracked\t%+.1f\t%s\n", untracked - none, budget);
}

/* ---- the library ---- */

static double scope_pair(void)
{
	mtag_t tag = mtag_child(MTAG_UNTAGGED, "scope");
	double best = 1e9, empty = 1e9, start;

	for (int i = 0; i < 5; i++) {
		start = now();
		for (int j = 0; j < 10000; j++)
			__asm__ volatile("" ::: "memory");
		empty = min(empty, now() - start);
		start = now();
		for (int j = 0; j < 10000; j++) {
			mtag_t previous = mtag_enter(tag);

			__asm__ volatile("" ::: "memory");
			mtag_leave(previous);
		}
		best = min(best, now() - start);
	}
	return (best - empty) / 10000;
}

/* ---- thresholds ---- */

/* Where the threshold is, seen from the touching tag. FAR is out of reach, the others are near. */
enum where { NOWHERE, PROCESS, ENDED, FAR, NEIGHBOUR, OWN, WHERE };

/*
 * An instruction is what such a number varies by from run to run. A far threshold is looked for
 * once in 64 pages; while a process has a near one, all its pages take the slow path.
 */
static const struct {
	const char *name, *budget;
} thresholds[WHERE] = {
	[NOWHERE] = {"none", ""},
	[PROCESS] = {"in another process", "1"},
	[ENDED] = {"one that has ended", "1"},
	[FAR] = {"another tag's, far", "1"},
	[NEIGHBOUR] = {"another tag's, near", "400"},
	[OWN] = {"its own, near", ""},
};

/* Signals nothing: as no more than SMALL is touched, a tag comes near but not as far. */
static void set_threshold(mtag_t tag, uint64_t bytes, int fd)
{
	int err = mtag_notify(tag, bytes, fd);

	if (err) {
		fprintf(stderr, "cost: mtag_notify: %s\n", strerror(-err));
		exit(1);
	}
}

/* Another process exists meanwhile, with or without a threshold. */
static double touch_beside_process(char *area, uint64_t bytes, mtag_t tag, int fd)
{
	char c = 0;
	double cost;
	int fds[2];
	pid_t pid;

	must(pipe(fds));
	pid = must(fork());
	if (!pid) {
		if (bytes)
			set_threshold(tag, bytes, fd);
		must(write(fds[1], &c, 1));
		pause();
	}
	must(read(fds[0], &c, 1));
	cost = come_and_go_at(area, SMALL, PG, false);
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0));
	close(fds[0]);
	close(fds[1]);
	return cost;
}

static double touch_with(char *area, enum where where, mtag_t own, mtag_t neighbour, int fd)
{
	const uint64_t near = 2 * SMALL, far = 1UL << 40;
	mtag_t tag = where == OWN ? own : neighbour;
	double cost;

	if (where == NOWHERE || where == PROCESS)
		return touch_beside_process(area, where == PROCESS ? near : 0, neighbour, fd);
	set_threshold(tag, where == FAR ? far : near, fd);
	if (where == ENDED)
		set_threshold(tag, 0, fd);
	cost = come_and_go_at(area, SMALL, PG, false);
	if (where != ENDED)
		set_threshold(tag, 0, fd);
	return cost;
}

/*
 * Differences from what this process pays before it has had any threshold. In one process and one
 * mapping: what a fault pays to find its mapping depends on which others the process has, and
 * differs by more than what is measured here.
 */
static void touch_under_thresholds(int rounds)
{
	mtag_t own = mtag_child(MTAG_UNTAGGED, "bench"),
	       neighbour = mtag_child(MTAG_UNTAGGED, "neighbour");
	int fd = must(eventfd(0, EFD_CLOEXEC));
	char *area = map(SMALL, HPAGE, MADV_NOHUGEPAGE);
	double cost[WHERE];

	mtag_enter(own);
	for (int where = 0; where < WHERE; where++) {
		cost[where] = 1e12;
		for (int i = 0; i < 2 * rounds; i++)
			cost[where] = min(cost[where], touch_with(area, where, own, neighbour, fd));
		printf("first touch, 4 KiB, thresholds: %s\t%+.1f\t%s\n", thresholds[where].name,
		       cost[where] - (where ? cost[NOWHERE] : 0), thresholds[where].budget);
	}
	mtag_leave(MTAG_UNTAGGED);
	must(munmap(area, SMALL));
	close(fd);
}

/* ---- reading a process with many tags ---- */

static void many_tags(void)
{
	double before = health("memory"), memory;
	struct reading cost;
	char name[16];

	for (int i = 0; i < TAGS; i++) {
		snprintf(name, sizeof(name), "tag%d", i);
		if (mtag_child(MTAG_UNTAGGED, name) == MTAG_UNTAGGED) {
			perror("mtag_child");
			exit(1);
		}
	}
	memory = (health("memory") - before) / TAGS;
	cost = reading();
	printf("read 1,000 tags\t%.0f\t200000\n", cost.dump);
	printf("read a process with 1,000 tags, sums only\t%.0f\t60000\n", cost.sums);
	printf("bytes an account and its tag\t%.0f\t96\n", memory);
}

/*
 * cost ROUNDS [forks]: with "forks" only the forks of a whole process. They copy page tables, whose
 * number depends on the places of a process' parts: up to 22,000 instructions. So these places must
 * not be random (setarch -R). The other costs must not be measured so: a first touch then takes 64
 * less in a tagged process, which has a mapping more, than in the others.
 */
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2;
	bool forks = argc > 2;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (health("installed") < 0) {
		fprintf(stderr, "cost: needs root, debugfs and the module\n");
		return 4;
	}
	set_linger("0");
	pages(rounds, forks);
	if (forks)
		return 0;
	swapped(2 * rounds);
	if (mtag_init()) {
		fprintf(stderr, "cost: cannot be tracked\n");
		return 4;
	}
	printf("enter and leave\t%.1f\t9\n", scope_pair());
	touch_under_thresholds(rounds);
	many_tags();
	return 0;
}
