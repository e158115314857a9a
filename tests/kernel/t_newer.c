// SPDX-License-Identifier: GPL-2.0
/* System calls of recent kernels, each where it exists. */
/* vm: timeout=400 */
#include "lib/model.h"

/* From kernels newer than the libc's headers. */
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 8
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#define N 256

static mtag_t a, b, w;

static struct model *two_owners(void)
{
	struct model *m = model_of(0, area(N * PG), N * PG);

	touch_pages(m, a, 0, N / 2, 2);
	touch_pages(m, b, 1, N / 2, 2);
	return m;
}

/* Calls process_madvise under the worker; returns bytes, or -errno. */
static ssize_t advise(pid_t pid, char *p, size_t len, int advice)
{
	struct iovec range = {p, len};
	int fd = must(syscall(SYS_pidfd_open, pid, 0));
	mtag_t before = mtag_enter(w);
	ssize_t got = syscall(SYS_process_madvise, fd, &range, 1, advice, 0);

	got = got < 0 ? -errno : got;
	mtag_leave(before);
	close(fd);
	return got;
}

static void advice_to_another(void)
{
	struct gate *g = gate();
	struct model *m = two_owners();
	bool swap = swap_zram();
	pid_t pid = child();

	if (!pid) {
		touch_pages(m, w, 0, N, 1);
		open_gate(g, 1);
		pass_gate(g, 2);
		agree("advised by another process to swap out");
		touch_pages(m, w, 0, N, 1);
		agree("and brought back");
		open_gate(g, 3);
		pass_gate(g, 4);
		agree("advised by another process to collapse");
		_exit(0);
	}
	pass_gate(g, 1);
	if (swap)
		is(advise(pid, m->p, N * PG, MADV_PAGEOUT), N * PG,
		   "another process's memory may be reclaimed");
	agree("which is not one's own");
	open_gate(g, 2);
	pass_gate(g, 3);
	advise(pid, m->p, N * PG, MADV_COLLAPSE);
	open_gate(g, 4);
	reap(pid);
	must(munmap(g, PG));
	is(swapoff_all(), 0, "swapoff works");
	agree("and the parent has what it had");
	model_end(0);
}

static void advice_to_oneself(void)
{
	static uint8_t where[PAGES_MAX];
	struct model *m = two_owners();
	ssize_t got = advise(getpid(), m->p, N / 2 * PG, MADV_DONTNEED);

	if (got == -EINVAL || got == -EPERM)
		skip("process_madvise(MADV_DONTNEED) (not in this kernel)");
	else
		is(got, N / 2 * PG, "process_madvise discards the caller's own memory");
	agree("and it has ended");
	look(m, where);
	must(mlock(m->p, N * PG));
	came(m, where, MTAG_UNTAGGED);
	is(madvise(m->p, N / 4 * PG, MADV_DONTNEED_LOCKED), 0, "locked memory may be discarded");
	agree("and has ended");
	model_end(0);
}

static void populated(void)
{
	struct model *m = model_of(0, area(N * PG), N * PG);
	static uint8_t before[PAGES_MAX];
	mtag_t was;

	look(m, before);
	was = mtag_enter(a);
	must(madvise(m->p, N / 2 * PG, MADV_POPULATE_WRITE));
	mtag_leave(was);
	came(m, before, a);
	agree("what MADV_POPULATE_WRITE makes is the caller's");
	is(anon_of(a), N / 2 * PG, "all of it");
	must(madvise(m->p, N * PG, MADV_POPULATE_READ));
	agree("what MADV_POPULATE_READ makes is nobody's");
	model_end(0);
}

/* A process that is being killed loses its memory by another's call. */
static void released(void)
{
	size_t len = 32 * MIB;
	struct gate *g = gate();
	char *p = area(len);
	long got = -1;
	pid_t pid;
	int fd, status;

	touch(a, p, len);
	for (int tries = 0; tries < 5 && got; tries++) {
		pid = child();
		if (!pid) {
			touch(b, p, len);
			open_gate(g, 1);
			for (;;)
				pause();
		}
		pass_gate(g, 1);
		open_gate(g, 0);
		fd = must(syscall(SYS_pidfd_open, pid, 0));
		must(kill(pid, SIGKILL));
		got = syscall(SYS_process_mrelease, fd, 0) ? errno : 0;
		close(fd);
		must(waitpid(pid, &status, 0));
		if (got == ENOSYS)
			break;
	}
	if (got)
		skip("process_mrelease took a dying process's memory (%s)", strerror(got));
	else
		ok(true, "process_mrelease took a dying process's memory");
	is(anon_of(a), len, "the parent keeps its own");
	exact("and is exact");
	must(munmap(p, len));
	must(munmap(g, PG));
}

static void sealed(void)
{
	struct model *m = two_owners();
	uint64_t munmaps, mremaps, mmaps;
	mtag_t before;

	if (syscall(SYS_mseal, m->p, N * PG, 0)) {
		skip("sealed memory (not in this kernel: %s)", strerror(errno));
		model_end(0);
		return;
	}
	munmaps = c(w, MTAG_C_MUNMAPS);
	mremaps = c(w, MTAG_C_MREMAPS);
	mmaps = c(w, MTAG_C_MMAPS);
	before = mtag_enter(w);
	ok(munmap(m->p, PG) && errno == EPERM, "sealed memory is not unmapped");
	ok(mremap(m->p, N * PG, 2 * N * PG, MREMAP_MAYMOVE) == MAP_FAILED, "nor moved");
	ok(mmap(m->p, PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED,
	   "nor mapped over");
	mtag_leave(before);
	is(c(w, MTAG_C_MUNMAPS), munmaps, "a munmap that is refused is not counted");
	is(c(w, MTAG_C_MREMAPS), mremaps, "nor an mremap");
	is(c(w, MTAG_C_MMAPS), mmaps, "nor an mmap");
	is(virt_of(w), 0, "and no virtual size is given to it");
	agree("sealed memory is as it was");
	must(madvise(m->p, N / 2 * PG, MADV_DONTNEED));
	agree("sealed memory loses only what is discarded");
	in_child {
		touch_pages(m, w, 0, N, 1);
		agree("a child of sealed memory");
	}
	/* It stays until the process ends. */
	m->pages = 0;
}

/* Moves two mappings and the hole between them by one call. */
static void moved_together(void)
{
	struct model *m = two_owners(), *to = model_of(1, area(N * PG), N * PG);
	uint64_t calls = c(w, MTAG_C_MREMAPS);
	mtag_t before;
	char *got;

	must(mprotect(m->p, N / 4 * PG, PROT_READ));
	must(munmap(m->p + N / 2 * PG, N / 8 * PG));
	must0(mtag_range(m->p, N * PG, a, 0));
	before = mtag_enter(w);
	got = mremap(m->p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, to->p);
	mtag_leave(before);
	if (got == MAP_FAILED) {
		is(c(w, MTAG_C_MREMAPS), calls,
		   "an mremap of several mappings that fails is not counted");
		agree("and moves nothing");
		skip("one mremap moves several mappings (not in this kernel)");
	} else {
		memcpy(to->owner, m->owner, N * sizeof(*to->owner));
		is(c(w, MTAG_C_MREMAPS), calls + 1, "an mremap of several mappings is one call");
		is(present(to->p, N * PG), (N - N / 8) * PG, "their pages moved");
		agree("and keep their owners");
		is(virt_of(w), 0, "none of the size is the caller's");
		must(munmap(to->p, N / 3 * PG));
		agree("unmapped in part where they moved to");
		model_end(0);
		agree("nothing is left where they were");
	}
	model_end(0);
	model_end(1);
	is(anon_of(a) + anon_of(b), 0, "nothing is left of either");
}

/* Memory that the kernel may drop instead of swapping it out. */
static void droppable(void)
{
	struct model *m;
	char *p = mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_DROPPABLE, -1, 0);

	if (p == MAP_FAILED) {
		skip("droppable memory (not in this kernel: %s)", strerror(errno));
		return;
	}
	m = model_of(0, p, N * PG);
	touch_pages(m, a, 0, N, 1);
	agree("droppable memory is its toucher's");
	in_child {
		exact("a child, which gets none of it, is exact");
		touch(w, p, PG);
		exact("and when it touches it");
	}
	swap_zram();
	until((madvise(p, N * PG, MADV_PAGEOUT), present(p, N * PG) == 0), 10);
	ok(present(p, N * PG) < N * PG, "the kernel drops of it");
	is(swap_of(a), 0, "and puts nothing into swap");
	agree("what is dropped has ended");
	touch_pages(m, b, 0, N, 1);
	agree("and may be touched anew");
	model_end(0);
	swapoff_all();
}

static void secret(void)
{
	int fd = syscall(SYS_memfd_secret, O_CLOEXEC);
	mtag_t before;
	char *p;

	if (fd < 0) {
		skip("secret memory (not in this kernel: %s)", strerror(errno));
		return;
	}
	must(ftruncate(fd, 16 * PG));
	before = mtag_enter(a);
	p = mmap(NULL, 16 * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	mtag_leave(before);
	if (p == MAP_FAILED)
		bail("secret memory");
	touch(w, p, 16 * PG);
	is(file_of(a) + shmem_of(a), 16 * PG, "secret memory is its mapper's");
	is(anon_of(w) + file_of(w) + shmem_of(w), 0, "and nobody else's");
	exact("exactly");
	in_child {
		read_all(w, p, 16 * PG);
		exact("a child of secret memory is exact");
	}
	must(munmap(p, 8 * PG));
	is(file_of(a) + shmem_of(a), 8 * PG, "half of it unmapped");
	must(munmap(p, 16 * PG));
	is(file_of(a) + shmem_of(a), 0, "and all");
	close(fd);
}

static void without_huge_pages(void)
{
	struct model *m;

	if (spew(THP "enabled", "always")) {
		skip("PR_SET_THP_DISABLE (no huge pages in this kernel)");
		return;
	}
	must(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
	m = model_of(0, area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE), HPAGE);
	touch_pages(m, a, 0, N, 1);
	is(anon_of(a), N * PG, "without huge pages a touch is a page");
	agree("and all is exact");
	model_end(0);
	must(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0));
}

int main(void)
{
	begin_test();
	swapoff_all();
	begin();
	a = model_tag("a");
	b = model_tag("b");
	w = model_tag("worker");
	spew(THP "khugepaged/scan_sleep_millisecs", "1000000");
	advice_to_another();
	advice_to_oneself();
	populated();
	released();
	moved_together();
	droppable();
	secret();
	without_huge_pages();
	sealed();
	return end_test();
}
