// SPDX-License-Identifier: GPL-2.0
/* I5 on a host that swaps: what untracked processes swap neither affects tracked ones nor costs mtag anything. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
#include "lib/test.h"

#define N	  128
#define ROUNDS	  8
#define LIVES	  50
#define THREADS	  256
#define TOLERATED (16 * KIB) /* of the module's memory: owners of a few more pages of slots */

static mtag_t a;

static struct gate *g;

static void *zaps(void *arg)
{
	(void)arg;
	for (;;) {
		/* With the guards on both sides: a slow machine has time for as many mappings as a process may have. */
		must(munmap(area(PG) - PG, 3 * PG));
		atomic_fetch_add(&g[1].step, 1);
		usleep(500000);
	}
	return NULL;
}

/* A process that is not tracked: it pages its memory out and frees it in turns, until it is told to stop. */
static pid_t other(void)
{
	pid_t pid = child();
	pthread_t thread;

	if (pid)
		return pid;
	pass_gate(g, 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, zaps, NULL))
			bail("thread");
	for (int round = 0; atomic_load(&g->step) < 3; round++) {
		char *p = area(N * PG);

		for (size_t i = 0; i < N; i++)
			*(uint64_t *)(p + i * PG) = i * 2654435761u + round;
		if (!page_out(p, N * PG))
			bail("the other's pages do not go out");
		must(madvise(p, N / 4 * PG, MADV_DONTNEED));
		must(madvise(p + N / 4 * PG, N / 4 * PG, MADV_FREE));
		must(munmap(p, N * PG));
		if (round == ROUNDS)
			open_gate(g, 2);
	}
	_exit(0);
}

/* Meanwhile unrelated processes end, some with pages in swap. */
static void live_and_end(int i)
{
	char *p = area(64 * PG);

	in_child {
		touch(a, p, 64 * PG);
		if (i % 2)
			page_out(p, 64 * PG);
		if (i % 4 == 1)
			must(munmap(p, 32 * PG));
		if (i % 4 == 3)
			read_all(a, p, 16 * PG);
	}
	must(munmap(p, 64 * PG));
}

static void beside(void)
{
	uint64_t repairs = health("repairs"), unmended = health("dirty_ended"),
		 drift = health("drift"), lost = health("lost");
	char *out = area(N * PG), *in = area(N * PG);
	uint64_t memory = health("memory");
	int zapped;

	touch(a, out, N * PG);
	touch(a, in, N * PG);
	open_gate(g, 1);
	pass_gate(g, 2);
	exact("exact while another process frees swap, and nobody tracked has any");
	is(health("repairs"), repairs, "nobody is counted anew for it");
	must0(!page_out(out, N * PG));
	is(swap_of(a), N * PG, "what is in swap is its owner's, whatever others free");
	is(anon_of(a), N * PG, "and what is resident");
	exact("exact while another process frees swap");
	zapped = atomic_load(&g[1].step);
	ok(until(atomic_load(&g[1].step) > zapped + 2 * THREADS, 60),
	   "its threads unmap something");
	is(health("repairs"), repairs, "no process is counted anew for what others free");
	ok(health("memory") < memory + TOLERATED,
	   "nothing is kept of processes that are not tracked (%" PRIu64 " bytes before, %" PRIu64
	   " now)",
	   memory, health("memory"));
	for (int i = 0; i < LIVES; i++)
		live_and_end(i);
	ok(until(health("tracked") == 1, 60), "all children have ended");
	is(health("repairs"), repairs, "nor is any of %d children", LIVES);
	is(health("dirty_ended"), unmended, "each of them is checked at its end");
	is(health("drift"), drift, "and has all counters at 0");
	is(health("lost"), lost, "nothing was lost");
	must(munmap(out, N * PG));
	must(munmap(in, N * PG));
	is(swap_of(a) + anon_of(a), 0, "nothing is left");
}

/* A tracked and an untracked process map a file, and one of them truncates it: swap of both is freed. */
static void truncated_by(bool tracked, const char *who)
{
	uint64_t swap = swap_of(a), unmended = health("repairs");
	int fd;
	char *p;

	if (!real_fs()) {
		skip("%s truncates a file with copies in swap (no file system)", who);
		return;
	}
	fd = must(open(FS "/truncated", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	must(ftruncate(fd, N * PG));
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));
	touch(a, p, N * PG);
	must0(!page_out(p, N * PG));
	is(swap_of(a) - swap, N * PG, "copies of a file's pages are in swap");
	if (tracked)
		must(ftruncate(fd, 0));
	else
		must0(sh("truncate -s 0 " FS "/truncated"));
	is(swap_of(a), swap, "%s truncates the file: nothing of them is left", who);
	exact("exact after that");
	is(health("repairs"), unmended, "and nobody was counted anew");
	must(munmap(p, N * PG));
	close(fd);
}

int main(void)
{
	pid_t pid;

	begin_test();
	swapoff_all();
	if (!swap_zram())
		skip_all("no zram");
	g = gate();
	/* While no process is tracked, a forked child is not either. */
	pid = other();
	begin();
	a = tag("a");
	beside();
	truncated_by(true, "its own process");
	truncated_by(false, "another process");
	open_gate(g, 3);
	reap(pid);
	swapoff_all();
	return end_test();
}
