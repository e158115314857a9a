// SPDX-License-Identifier: GPL-2.0
/* Rules 2 and 5: a forked child keeps owners, tree and current tag; copies keep the owner. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
/* vm: brief=1 timeout=400 */
#include "lib/test.h"
#include <linux/io_uring.h>
#include <linux/sched.h>

#define N 128

static char *a_area, *b_area;
static mtag_t a, b, w;

static void levels(int level)
{
	is(anon_of(a), N * PG, "level %d: tag a has what its ancestors touched", level);
	is(anon_of(b), N / 2 * PG, "level %d: tag b as well", level);
	touch(w, a_area, N / 4 * PG);
	is(anon_of(w), 0, "level %d: a page copied on write keeps its owner", level);
	owns(a, a_area, N * PG, "level %d: tag a has what smaps says after copying", level);
	exact("level %d: the child is exact", level);
	if (level < 3)
		in_child
			levels(level + 1);
	exact("level %d: still exact after its children", level);
	must(munmap(b_area, N * PG));
	is(anon_of(b), 0, "level %d: unmapping shared pages ends them here", level);
}

static void fork_levels(void)
{
	a_area = area(N * PG);
	b_area = area(N * PG);
	touch(a, a_area, N * PG);
	touch(b, b_area, N / 2 * PG);
	in_child
		levels(1);
	is(anon_of(b), N / 2 * PG, "what a child unmaps stays its parent's");
	exact("the parent is exact after three levels");
}

static void parent_copies(void)
{
	struct gate *g = gate();
	pid_t pid = child();

	if (!pid) {
		pass_gate(g, 1);
		is(anon_of(a), N * PG, "the child keeps the old pages after its parent copied");
		exact("such a child is exact");
		_exit(0);
	}
	touch(w, a_area, N * PG);
	is(anon_of(w), 0, "a parent's copy keeps the owner, too");
	owns(a, a_area, N * PG, "the parent has what smaps says");
	exact("a parent that copied is exact");
	open_gate(g, 1);
	reap(pid);
	touch(w, a_area, N * PG);
	owns(a, a_area, N * PG, "writing to pages that are shared no more keeps the owner");
	exact("exact once the child is gone");
}

static void inherits_current(void)
{
	char *p = area(N * PG);
	mtag_t before = mtag_enter(w);
	pid_t pid = child();

	if (!pid) {
		for (size_t i = 0; i < N; i++)
			((volatile char *)p)[i * PG] = 1;
		is(mtag_current(), w, "a forked child has the forking thread's current tag");
		mtag_enter(0);
		/* Whatever else the child wrote to was there before, and kept its owner. */
		owns(w, p, N * PG, "and touches under it");
		exact("a child that inherited a tag is exact");
		_exit(0);
	}
	mtag_leave(before);
	reap(pid);
	must(munmap(p, N * PG));
}

static long raw_clone(unsigned long flags)
{
	return syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

static void raw(void)
{
	struct clone_args args = {.exit_signal = SIGCHLD};
	char *p = area(N * PG);
	pid_t pid = must(raw_clone(SIGCHLD));

	if (!pid) {
		is(anon_of(a), N * PG, "a child by raw clone keeps owners");
		touch(w, p, N * PG);
		owns(w, p, N * PG, "and may change its tag");
		exact("a child by raw clone is exact");
		_exit(0);
	}
	reap(pid);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		is(anon_of(a), N * PG, "a child by clone3 keeps owners");
		exact("a child by clone3 is exact");
		_exit(0);
	}
	reap(must(pid));
	is(anon_of(w), 0, "what children did is not the parent's");
	must(munmap(p, N * PG));
}

static int touch_in_vm(void *arg)
{
	for (size_t i = 0; i < N; i++)
		((volatile char *)arg)[i * PG] = 1;
	return 0;
}

static __attribute__((noinline)) pid_t touch_in_vfork(char *p)
{
	pid_t pid = vfork();

	if (!pid) {
		touch_in_vm(p);
		_exit(0);
	}
	return pid;
}

static void shared_vm(void)
{
	char *p = area(N * PG), *q = area(N * PG), *stack = area(64 * KIB);
	mtag_t v = tag("vfork"), s = tag("clone-vm"), before;
	pid_t pid;

	touch(0, stack, 64 * KIB);
	before = mtag_enter(v);
	pid = touch_in_vfork(p);
	mtag_leave(before);
	reap(pid);
	owns(v, p, N * PG, "what a vforked child touches is its parent's current tag's");
	is(anon_of(v), N * PG, "all of it");
	before = mtag_enter(s);
	pid = clone(touch_in_vm, stack + 64 * KIB, CLONE_VM | CLONE_VFORK | SIGCHLD, q);
	mtag_leave(before);
	reap(pid);
	owns(s, q, N * PG,
	     "what a process in the same memory touches is its creator's current tag's");
	is(anon_of(s), N * PG, "all of it");
	exact("processes in one memory are exact");
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
	must(munmap(stack, 64 * KIB));
}

static void advice(void)
{
	char *p = area(N * PG), *q = area(N * PG);
	mtag_t d = tag("dontfork"), z = tag("wipeonfork");

	touch(d, p, N * PG);
	touch(z, q, N * PG);
	must(madvise(p, N * PG, MADV_DONTFORK));
	must(madvise(q, N * PG, MADV_WIPEONFORK));
	in_child {
		is(anon_of(d), 0, "MADV_DONTFORK's range is not the child's");
		is(anon_of(z), 0, "MADV_WIPEONFORK's pages neither");
		exact("a child without them is exact");
		touch(w, q, N * PG);
		owns(w, q, N * PG, "a wiped range is touched anew");
		exact("exact then, too");
	}
	is(anon_of(d) + anon_of(z), 2 * N * PG, "the parent keeps both");
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
}

/* Pages pinned for I/O are copied at fork, not shared. */
static void pinned(void)
{
	struct io_uring_params params = {0};
	char *p = area(N * PG);
	mtag_t t = tag("pinned");
	struct iovec buffer = {p, N / 2 * PG};
	int ring = syscall(SYS_io_uring_setup, 8, &params);
	uint64_t ours;

	touch(t, p, N * PG);
	if (ring < 0 || syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1)) {
		diag("io_uring: %s", strerror(errno));
		skip("pinned pages keep their owner (no io_uring here)");
		return;
	}
	ours = pfn_of(p);
	in_child {
		ok(pfn_of(p) && pfn_of(p) != ours, "a pinned page is copied at fork");
		ok(pfn_of(p + (N - 1) * PG) != 0, "another is shared");
		is(anon_of(t), N * PG, "both keep their owner");
		exact("a child with copies of pinned pages is exact");
		must(munmap(p, N / 4 * PG));
		owns(t, p + N / 4 * PG, (N - N / 4) * PG, "they end one by one");
	}
	is(anon_of(t), N * PG, "the parent keeps its pinned pages");
	exact("the parent of such a child is exact");
	close(ring);
	must(munmap(p, N * PG));
	is(anon_of(t), 0, "in the end nothing is left");
}

static atomic_bool stop;

/* Reclaims the area repeatedly, including its mappings in forked children. */
static void *reclaimer(void *arg)
{
	while (!atomic_load(&stop))
		madvise(arg, 8 * N * PG, MADV_PAGEOUT);
	return NULL;
}

static void under_reclaim(void)
{
	char *p = area(8 * N * PG);
	mtag_t even = tag("reclaim-even"), odd = tag("reclaim-odd");
	pthread_t thread;
	/* Each eighth is audited. */
	int children = more(9, 40);

	if (!swap_zram()) {
		skip("fork under reclaim is exact (no zram)");
		return;
	}
	for (size_t i = 0; i < 8 * N; i++)
		touch(i % 2 ? odd : even, p + i * PG, PG);
	if (pthread_create(&thread, NULL, reclaimer, p))
		bail("thread");
	for (int i = 0; i < children; i++) {
		pid_t pid = child();

		if (!pid) {
			if (i % 4 == 0) {
				/* The reclaimer of the parent goes on with the pages that both map. */
				read_all(0, p, 8 * N * PG);
				touch(w, p, N * PG);
			}
			must(munmap(p, 8 * N * PG));
			if (anon_of(even) + anon_of(odd) + swap_of(even) + swap_of(odd))
				ok(false, "child %d: nothing is left after munmap: %zd %zd %zd %zd",
				   i, (ssize_t)anon_of(even), (ssize_t)anon_of(odd),
				   (ssize_t)swap_of(even), (ssize_t)swap_of(odd));
			/* Quiet now: the reclaimed range is gone here. */
			if (i % 8 == 0)
				exact("child %d: forked under reclaim, exact", i);
			_exit(0);
		}
		read_all(0, p, 8 * N * PG);
		reap(pid);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	is(anon_of(even) + swap_of(even), 4 * N * PG,
	   "after %d forks under reclaim one tag has all its pages", children);
	is(anon_of(odd) + swap_of(odd), 4 * N * PG, "and the other one");
	/* The reclaimer's share of VmSwap came back when its thread ended. */
	exact("the parent is exact");
	must(munmap(p, 8 * N * PG));
	is(anon_of(even) + swap_of(even) + anon_of(odd) + swap_of(odd), 0, "munmap leaves nothing");
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("writer");
	fork_levels();
	parent_copies();
	inherits_current();
	raw();
	shared_vm();
	advice();
	pinned();
	under_reclaim();
	exact("all is exact in the end");
	return end_test();
}
