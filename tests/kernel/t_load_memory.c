// SPDX-License-Identifier: GPL-2.0
/*
 * Memory runs out: a control group's limit while its processes fault and fork, reclaim at the limit, full swap, the OOM
 * killer, and process_mrelease. Processes that survive are exact, those that are killed leave all counters at 0.
 *   t_load_memory ROUNDS
 */
/* vm: group=stress mem=600M timeout=420 args=2 */
/* vm: group=stress-long mem=600M timeout=7200 long=1 args=75 */
#include <sys/pidfd.h>
#include "lib/load.h"

#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif

#define GROUP "/sys/fs/cgroup/mtag-load"
#define TAGS  8

static mtag_t tags[TAGS];
static size_t rounds;

/* ---- the control group ---- */

static uint64_t group_event(const char *name)
{
	return file_field(GROUP "/memory.events", name);
}

static bool group_begin(void)
{
	if (spew("/sys/fs/cgroup/cgroup.subtree_control", "+memory"))
		return false;
	return !mkdir(GROUP, 0755) || errno == EEXIST;
}

static void group_limits(size_t max, const char *swap_max)
{
	must0(spew(GROUP "/memory.max", "%zu", max));
	/* Kernels that do not account swap have no such file. */
	spew(GROUP "/memory.swap.max", "%s", swap_max);
}

static void group_end(void)
{
	spew(GROUP "/cgroup.kill", "1");
	if (!until(!rmdir(GROUP), 30))
		bail("rmdir " GROUP);
}

static void join_group(void)
{
	must0(spew(GROUP "/cgroup.procs", "%d", getpid()));
	/* Makes this process the OOM killer's first choice. */
	must0(spew("/proc/self/oom_score_adj", "1000"));
}

/* ---- processes that are killed ---- */

static void make_tags(void)
{
	for (size_t i = 0; i < TAGS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "memory-%zu", i);
		tags[i] = tag(name);
	}
}

/* Touches @len bytes, tag after tag. */
static void fill(char *p, size_t len)
{
	for (size_t at = 0; at < len; at += PG)
		touch(tags[at / PG % TAGS], p + at, PG);
}

static int status_of(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0));
	return status;
}

static bool was_killed(pid_t pid)
{
	int status = status_of(pid);

	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* A process with its own tree that touches more than the limit. */
_Noreturn static void glutton(size_t len)
{
	join_group();
	must0(mtag_init());
	make_tags();
	fill(area(len), len);
	_exit(0);
}

/* The same in a relative of the survivor, beginning with the memory that they share. */
_Noreturn static void relative(char *shared, size_t shared_len, size_t len)
{
	join_group();
	fill(shared, shared_len);
	fill(area(len), len);
	_exit(0);
}

/* Forks while there is no memory for it. */
_Noreturn static void breeder(void)
{
	join_group();
	must0(mtag_init());
	make_tags();
	fill(area(4 * MIB), 4 * MIB);
	for (;;) {
		pid_t pid = fork();

		if (pid < 0) {
			usleep(1000);
		} else if (!pid) {
			fill(area(6 * MIB), 6 * MIB);
			pause();
		}
	}
}

static void at_the_limit(void)
{
	char *shared = area(2 * MIB);
	size_t killed = 0;

	fill(shared, 2 * MIB);
	group_limits(24 * MIB, "0");
	for (size_t i = 0; i < rounds; i++) {
		pid_t pid = child();

		if (!pid)
			i % 2 ? glutton(64 * MIB) : relative(shared, 2 * MIB, 64 * MIB);
		killed += was_killed(pid);
	}
	is(killed, rounds, "%zu processes are killed at the limit of their control group", rounds);
	exact("their surviving relative is exact");
	clean(getpid(), "audit agrees");
}

/*
 * A child for whose count there is no memory is counted by the first reader, and may be killed before that. Returns
 * how many were.
 */
static uint64_t forks_at_the_limit(void)
{
	uint64_t unmended = health("dirty_ended"), hits = group_event("max");

	for (size_t i = 0; i < (rounds + 2) / 3; i++) {
		uint64_t before = group_event("oom_kill");
		pid_t pid = child();

		if (!pid)
			breeder();
		ok(until(group_event("oom_kill") >= before + 3, 60),
		   "processes that fork are killed");
		spew(GROUP "/cgroup.kill", "1");
		status_of(pid);
	}
	until((visit_cpus(), !health("tracked")), 60);
	unmended = health("dirty_ended") - unmended;
	hits = group_event("max") - hits;
	ok(unmended <= hits, "%" PRIu64 " ended unmended, the limit was hit %" PRIu64 " times",
	   unmended, hits);
	return unmended;
}

/* Two processes push each other's memory out. */
static void reclaim_at_the_limit(void)
{
	struct gate *g = gate();

	group_limits(24 * MIB, "max");
	in_child {
		char *p;

		begin();
		make_tags();
		p = area(32 * MIB);
		join_group();
		for (size_t i = 0; i < 2 + rounds / 10; i++) {
			fill(p, 32 * MIB);
			read_all(tags[i % TAGS], p, 32 * MIB);
		}
		open_gate(g, 1);
		ok(smaps(p, 32 * MIB).swap > 0, "part of it is in swap");
		/* Out of the group: what is measured moves no more. */
		must0(spew("/sys/fs/cgroup/cgroup.procs", "%d", getpid()));
		must0(spew("/proc/self/oom_score_adj", "0"));
		exact("a process that faults at the limit is exact");
		clean(getpid(), "audit agrees");
	}
}

/* ---- swap that is full ---- */

static void full_swap(void)
{
	size_t killed = 0;

	group_limits(16 * MIB, "max");
	for (size_t i = 0; i < rounds; i++) {
		pid_t pid = child();

		/* More than the group's memory and all of swap. */
		if (!pid)
			glutton(16 * MIB + 64 * MIB + 32 * MIB);
		killed += was_killed(pid);
	}
	is(killed, rounds, "%zu processes are killed with swap full", rounds);
	/* Nobody has to be killed: some cannot be swapped out. */
	group_limits(400 * MIB, "max");
	in_child {
		size_t len = 80 * MIB;
		char *p;

		begin();
		make_tags();
		p = area(len);
		join_group();
		fill(p, len);
		for (int i = 0; i < 4; i++)
			madvise(p, len, MADV_PAGEOUT);
		ok(file_field("/proc/meminfo", "SwapFree") < 2048, "swap is full");
		exact("a process that does not fit into it is exact");
		fill(p, len / 2);
		exact("and still when some of it comes back");
		clean(getpid(), "audit agrees");
	}
}

/* ---- the whole machine ---- */

static void everywhere(void)
{
	size_t n = 1 + rounds / 20, killed = 0;

	for (size_t i = 0; i < n; i++) {
		pid_t pid = child();

		if (!pid) {
			must0(spew("/proc/self/oom_score_adj", "1000"));
			must0(mtag_init());
			make_tags();
			fill(area(1024 * MIB), 1024 * MIB);
			_exit(0);
		}
		killed += was_killed(pid);
	}
	is(killed, n, "%zu processes are killed when no memory is left at all", n);
}

/* ---- process_mrelease ---- */

/* Runs on the CPU of the process that releases it, only when that is idle: it cannot exit before. */
_Noreturn static void released(struct gate *g, size_t len)
{
	struct sched_param idle_priority = {0};
	char *p = area(len);

	fill(p, len);
	madvise(p, len / 2, MADV_PAGEOUT);
	must(sched_setscheduler(0, SCHED_IDLE, &idle_priority));
	open_gate(g, 1);
	for (;;)
		pause();
}

static void on_one_cpu(int policy)
{
	struct sched_param priority = {.sched_priority = policy == SCHED_FIFO};

	run_on_first_cpu();
	must(sched_setscheduler(0, policy, &priority));
}

static void release(bool tracked)
{
	size_t done = 0, n = rounds + 1;

	in_child {
		if (tracked)
			begin();
		on_one_cpu(SCHED_OTHER);
		for (size_t i = 0; i < n; i++) {
			struct gate *g = gate();
			pid_t pid = child();
			int fd;

			if (!pid) {
				must0(mtag_init());
				make_tags();
				released(g, 4 * MIB);
			}
			pass_gate(g, 1);
			fd = must(pidfd_open(pid, 0));
			on_one_cpu(SCHED_FIFO);
			must(kill(pid, SIGKILL));
			done += !syscall(SYS_process_mrelease, fd, 0);
			on_one_cpu(SCHED_OTHER);
			status_of(pid);
			close(fd);
			must(munmap(g, PG));
		}
		ok(done > 0, "%zu of %zu killed processes are released by %s process", done, n,
		   tracked ? "a tracked" : "an untracked");
		if (tracked)
			exact("which is exact");
	}
}

int main(int argc, char **argv)
{
	struct load before, after;
	uint64_t killed = vmstat("oom_kill"), unmended;

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 3;
	need_root();
	swapoff_all();
	before = load_begin();
	if (!group_begin())
		skip_all("no control group for memory");
	in_child {
		begin();
		make_tags();
		at_the_limit();
	}
	unmended = forks_at_the_limit();
	everywhere();
	if (swap_file()) {
		in_child
			reclaim_at_the_limit();
		full_swap();
		release(false);
		release(true);
		swapoff_all();
	} else {
		skip("no file to swap to");
	}
	group_end();
	after = load_end(&before);
	is(after.dirty_ended, before.dirty_ended + unmended,
	   "no other process ended with pending repairs");
	diag("lost %" PRIu64, after.lost - before.lost);
	diag("counts: kills=%" PRIu64 " lifetimes=%" PRIu64, vmstat("oom_kill") - killed,
	     after.ended - before.ended);
	return done();
}
