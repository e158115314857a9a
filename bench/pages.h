/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page operations that are measured. Each function performs one and returns its cost in
 * instructions per page. Also a pair of malloc and free, which does not enter the kernel.
 */
#ifndef MTAG_BENCH_PAGES_H
#define MTAG_BENCH_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include "area.h"
#include "busy.h"
#include "clock.h"
#include "mtag.h"

static double timed_touch(char *p, size_t len, size_t step)
{
	double start = now();

	touch(p, len, step);
	return (now() - start) / (len / step);
}

static double timed_discard(char *p, size_t len, size_t step)
{
	double start = now();

	must(madvise(p, len, MADV_DONTNEED));
	return (now() - start) / (len / step);
}

/* The page tables exist from the first pass on, so only the page itself is measured. */
static double come_and_go_at(char *p, size_t len, size_t step, bool go)
{
	double best = 1e9;

	for (int i = 0; i < PASSES; i++) {
		double come = timed_touch(p, len, step);

		best = min(best, go ? timed_discard(p, len, step) : come);
		if (!go)
			must(madvise(p, len, MADV_DONTNEED));
	}
	return best;
}

static double come_and_go(size_t len, size_t step, int advice, bool go)
{
	char *p = map(len, HPAGE, advice);
	double best = come_and_go_at(p, len, step, go);

	must(munmap(p, len));
	return best;
}

/* Swapped pages, if there is swap. */
static double swap_go(void)
{
	char *p = map(SMALL, PG, MADV_NOHUGEPAGE);
	double best = 1e9;

	for (int i = 0; i < PASSES; i++) {
		/* Pages of one repeated word: otherwise zram's own memory would be measured too. */
		for (size_t at = 0; at < SMALL; at += 8)
			*(uint64_t *)(p + at) = at / PG + 1;
		must(madvise(p, SMALL, MADV_PAGEOUT));
		best = min(best, timed_discard(p, SMALL, PG));
	}
	must(munmap(p, SMALL));
	return best;
}

static double small_come(void)
{
	return come_and_go(SMALL, PG, MADV_NOHUGEPAGE, false);
}

static double small_go(void)
{
	return come_and_go(SMALL, PG, MADV_NOHUGEPAGE, true);
}

static double huge_come(void)
{
	return come_and_go(HUGE, HPAGE, MADV_HUGEPAGE, false);
}

static double huge_go(void)
{
	return come_and_go(HUGE, HPAGE, MADV_HUGEPAGE, true);
}

/* A page of a file in the page cache, mapped sixteen at a time. */
static double file(bool go)
{
	int fd = must(memfd_create("bench", 0));
	double best = 1e9;
	volatile char *p;
	char sum = 0;

	must(ftruncate(fd, SMALL));
	p = must(mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	touch((char *)p, SMALL, PG);
	for (int i = 0; i < PASSES; i++) {
		double start, gone = timed_discard((char *)p, SMALL, PG);

		start = now();
		for (size_t j = 0; j < SMALL; j += PG)
			sum += p[j];
		/*
		 * In the first pass pages are dirty, as touch() has mapped them one by one. It
		 * takes two more until the kernel has put all of them on the list of active ones.
		 */
		if (i > 2)
			best = min(best, go ? gone : (now() - start) / (SMALL / PG));
	}
	must(munmap((char *)p, SMALL));
	close(fd);
	return best;
}

static double file_come(void)
{
	return file(false);
}

static double file_go(void)
{
	return file(true);
}

/*
 * A thousand mappings of one file, each made under a tag of its own where the process is tracked.
 * The kernel maps all pages of one, sixteen, at a touch.
 */
#define MANY	 1000
#define MANY_LEN (16 * PG)

static bool is_tracked; /* a process that is not must not ask for tags: it would become so */

static void map_many(char *p, int fd)
{
	char name[16];

	for (int i = 0; i < MANY; i++) {
		mtag_t previous = MTAG_UNTAGGED;

		snprintf(name, sizeof(name), "many%d", i);
		if (is_tracked)
			previous = mtag_enter(mtag_child(MTAG_UNTAGGED, name));
		must(mmap(p + i * MANY_LEN, MANY_LEN, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0));
		if (is_tracked)
			mtag_leave(previous);
	}
}

/* A part of them, so that most passes end between two timer ticks. */
#define PART_LEN (MANY * MANY_LEN / 4)

static double many(bool go)
{
	char *p = must(mmap(NULL, MANY * MANY_LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	double best[4] = {1e9, 1e9, 1e9, 1e9}, start, came, gone;
	int fd = must(memfd_create("many", 0));

	must(ftruncate(fd, MANY_LEN));
	for (size_t at = 0; at < MANY_LEN; at += PG)
		must(pwrite(fd, "", 1, at));
	map_many(p, fd);
	for (int i = 0; i < PASSES * 2; i++) {
		char *part = p + i % 4 * PART_LEN;

		start = now();
		for (size_t at = 0; at < PART_LEN; at += MANY_LEN)
			(void)*(volatile char *)(part + at);
		came = (now() - start) / (PART_LEN / PG);
		gone = timed_discard(part, PART_LEN, PG);
		if (i >= 12)
			best[i % 4] = min(best[i % 4], go ? gone : came);
	}
	must(munmap(p, MANY * MANY_LEN));
	close(fd);
	return (best[0] + best[1] + best[2] + best[3]) / 4;
}

static double many_come(void)
{
	return many(false);
}

static double many_go(void)
{
	return many(true);
}

/* Runs do_it(pipe) in a child, waits for it, and returns the number that it wrote to the pipe. */
static double by_child(void (*do_it)(int, void *), void *arg)
{
	double result;
	int fds[2];
	pid_t pid;

	must(pipe(fds));
	pid = must(fork());
	if (!pid) {
		do_it(fds[1], arg);
		_exit(0);
	}
	if (must(read(fds[0], &result, sizeof(result))) != sizeof(result))
		_exit(1);
	must(waitpid(pid, NULL, 0));
	close(fds[0]);
	close(fds[1]);
	return result;
}

static void copy_pages(int fd, void *p)
{
	double cost = timed_touch(p, SMALL, PG);

	must(write(fd, &cost, sizeof(cost)));
}

static double copy_on_write(void)
{
	char *p = map(SMALL, HPAGE, MADV_NOHUGEPAGE);
	double best = 1e9;

	touch(p, SMALL, PG);
	for (int i = 0; i < PASSES; i++)
		best = min(best, by_child(copy_pages, p));
	must(munmap(p, SMALL));
	return best;
}

static double fork_or_exit(bool ends)
{
	char *p = map(FORKED, HPAGE, MADV_NOHUGEPAGE), c = 0;
	double best = 1e9, start;
	int fds[2];
	pid_t pid;

	touch(p, FORKED, PG);
	must(pipe(fds));
	for (int i = 0; i < 5; i++) {
		/* Let the deferred freeing of the previous child finish: it must not count here. */
		usleep(50000);
		start = now();
		pid = must(fork());
		if (!pid)
			_exit(read(fds[0], &c, 1) != 1);
		if (!ends)
			best = min(best, now() - start);
		start = now();
		must(write(fds[1], &c, 1));
		must(waitpid(pid, NULL, 0));
		if (ends)
			best = min(best, now() - start);
	}
	must(munmap(p, FORKED));
	close(fds[0]);
	close(fds[1]);
	return best / (FORKED / PG);
}

static double fork_page(void)
{
	return fork_or_exit(false);
}

static double exit_page(void)
{
	return fork_or_exit(true);
}

/* A child that ends at once: what a process costs that has next to nothing. */
static double fork_and_end(void)
{
	double best = 1e9, start;
	pid_t pid;

	for (int i = 0; i < 20; i++) {
		usleep(20000);
		start = now();
		pid = must(fork());
		if (!pid)
			_exit(0);
		must(waitpid(pid, NULL, 0));
		best = min(best, now() - start);
	}
	return best;
}

/* As a shell does it: of most programs the part that page events are most of. */
static double fork_exec_and_end(void)
{
	char *const argv[] = {"true", NULL}, *const envp[] = {NULL};
	double best = 1e9, start;
	pid_t pid;

	for (int i = 0; i < 10; i++) {
		start = busy();
		pid = must(fork());
		if (!pid) {
			personality(ADDR_NO_RANDOMIZE);
			execve("/bin/true", argv, envp);
			_exit(1);
		}
		must(waitpid(pid, NULL, 0));
		best = min(best, busy() - start);
	}
	return best;
}

static double malloc_pair(void)
{
	double best = 1e9, start;

	for (int i = 0; i < 5; i++) {
		start = now();
		for (int j = 0; j < 10000; j++) {
			void *p = malloc(100);

			__asm__ volatile("" : "+r"(p));
			free(p);
		}
		best = min(best, (now() - start) / 10000);
	}
	return best;
}

#endif
