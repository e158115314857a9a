/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel tests share, of which tags, memory, processes and threads are here.
 *
 * The rule of every measurement: the tag under test is current only while its pages are touched; what
 * reads the truth runs untagged, and reads it again afterwards, so that nothing moved meanwhile.
 */
#ifndef MTAG_TESTS_LIB_H
#define MTAG_TESTS_LIB_H

#include "swap.h"
#include "tap.h"
#include "told.h"
#include "truth.h"

/* ---- tags and memory ---- */
UNUSED static mtag_t tag(const char *name)
{
	mtag_t id = mtag_child(MTAG_UNTAGGED, name);

	if (id == MTAG_UNTAGGED)
		bail("mtag_child(%s)", name);
	return id;
}

/* The stack that calls made under a tag will need, so that they touch none of it first. */
UNUSED static __attribute__((noinline)) void prefault_stack(void)
{
	volatile char room[128 * KIB];

	for (size_t at = 0; at < sizeof(room); at += PG)
		room[at] = 1;
}

/* No huge pages there. A kernel that has none knows no such advice. */
UNUSED static void no_huge(void *p, size_t len)
{
	if (madvise(p, len, MADV_NOHUGEPAGE) && errno != EINVAL)
		must(-1);
}

/* Private anonymous memory between pages that keep it a mapping of its own; base pages only. */
UNUSED static char *area_prot(size_t len, size_t align, int prot)
{
	size_t room = len + 2 * PG + align;
	char *base = must(mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			       -1, 0));
	char *p = base + PG;

	if (align)
		p = (char *)(((uintptr_t)p + align - 1) & -align);
	must(mprotect(p, len, prot));
	if (!align)
		no_huge(p, len);
	return p;
}

UNUSED static char *area(size_t len)
{
	return area_prot(len, 0, PROT_READ | PROT_WRITE);
}

UNUSED static bool has_huge_pages(void)
{
	return !access("/sys/kernel/mm/transparent_hugepage", F_OK);
}

/* Likewise, for huge pages: aligned, and asked for. */
UNUSED static char *huge_area(size_t len)
{
	char *p = area_prot(len, HPAGE, PROT_READ | PROT_WRITE);

	must(madvise(p, len, MADV_HUGEPAGE));
	return p;
}

/* Writes to every page, each with other contents, so that KSM leaves them alone. */
UNUSED static void touch(mtag_t as, void *start, size_t len)
{
	static _Atomic uint64_t salt = 0x9e3779b97f4a7c15;
	mtag_t before = mtag_enter(as);

	for (size_t at = 0; at < len; at += PG)
		*(volatile uint64_t *)((char *)start + at) = atomic_fetch_add(&salt, 0x1234567) | 1;
	mtag_leave(before);
}

UNUSED static uint64_t read_all(mtag_t as, const void *start, size_t len)
{
	mtag_t before = mtag_enter(as);
	uint64_t sum = 0;

	for (size_t at = 0; at < len; at += PG)
		sum += *(const volatile uint64_t *)((const char *)start + at);
	mtag_leave(before);
	return sum;
}

/* Attached, this thread registered, and all that measures has its pages. */
UNUSED static void begin(void)
{
	int error = mtag_init();

	if (error)
		bail("mtag_init: %s", strerror(-error));
	mtag_leave(mtag_enter(MTAG_UNTAGGED));
	if (mtag_fd() < 0)
		bail("open %s", MTAG_DEVICE);
	prefault_stack();
	touch(MTAG_UNTAGGED, area(PG), PG);
	flush_rss();
	smaps(NULL, 0);
	usage_sum();
}

/* ---- processes and threads ---- */
UNUSED static pid_t child(void)
{
	return must(fork());
}

/* Waits; a child that did not exit with 0 is a failure. */
UNUSED static void reap(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0));
	if (status)
		ok(false, "child %d ends well (status %#x)", pid, status);
}

/* in_child { … }: the block runs in a forked child, which is waited for. */
#define in_child                                                                                   \
	for (pid_t pid_ = child(), once_ = 1; once_; once_ = 0, pid_ ? reap(pid_) : _exit(0))      \
		if (pid_ == 0)

/* Steps that processes or threads wait for: in shared memory. */
struct gate {
	atomic_int step;
};

UNUSED static struct gate *gate(void)
{
	return must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

UNUSED static void open_gate(struct gate *g, int step)
{
	atomic_store(&g->step, step);
}

UNUSED static void pass_gate(struct gate *g, int step)
{
	if (!until(atomic_load(&g->step) >= step, 120))
		bail("step %d did not come in 120 s", step);
}

UNUSED static void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg) || pthread_join(thread, NULL))
		bail("thread");
}

#endif
