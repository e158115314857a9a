// SPDX-License-Identifier: GPL-2.0
/* Rule 2 for UFFDIO_MOVE: contents change their place in the process, and keep their owner. */
/* vm: core=1 timeout=400 since=6.8 because="no UFFDIO_MOVE" */
#include <sys/utsname.h>
#include "lib/model.h"
#include "lib/uffd_move.h"
#include <poll.h>

#define N   256
#define SRC (&models[0])
#define DST (&models[1])

static mtag_t a, b, d, w;
static int uffd;

static void arm(struct model *m)
{
	uffd_register(uffd, m->p, m->pages * PG);
}

static void disarm(struct model *m)
{
	struct uffdio_range range = {(uintptr_t)m->p, m->pages * PG};

	must(ioctl(uffd, UFFDIO_UNREGISTER, &range));
}

/* Two areas of small pages; the first one's are a's and b's in turn. */
static void two_areas(void)
{
	model_of(0, area(N * PG), N * PG);
	model_of(1, area(N * PG), N * PG);
	touch_pages(SRC, a, 0, N / 2, 2);
	touch_pages(SRC, b, 1, N / 2, 2);
	arm(DST);
}

static void end_areas(void)
{
	model_end(0);
	model_end(1);
	agree("nothing is left of either place");
}

/* UFFDIO_MOVE under the worker, which gets nothing for it; returns pages moved, or -errno. */
static ssize_t try_move(size_t to, size_t from, size_t n, uint64_t mode)
{
	struct uffdio_move move = {.dst = (uintptr_t)DST->p + to * PG,
				   .src = (uintptr_t)SRC->p + from * PG,
				   .len = n * PG,
				   .mode = mode};
	mtag_t before = mtag_enter(w);
	ssize_t done, error = ioctl(uffd, UFFDIO_MOVE, &move) ? -errno : 0;

	mtag_leave(before);
	done = move.move > 0 ? move.move / (ssize_t)PG : error;
	if (done > 0)
		memcpy(DST->owner + to, SRC->owner + from, done * sizeof(*DST->owner));
	return done;
}

static void moves(size_t to, size_t from, size_t n, const char *what)
{
	ssize_t got = try_move(to, from, n, 0);

	is(got, n, "%s: all pages moved", what);
	agree("%s: each keeps its owner", what);
	is(anon_of(w), 0, "%s: none is the caller's", what);
}

static void small_pages(void)
{
	uint64_t frame;

	two_areas();
	frame = pfn_of(SRC->p);
	moves(0, 0, N / 2, "small pages");
	is(pfn_of(DST->p), frame, "small pages: it is the same frame");
	is(smaps(SRC->p, N / 2 * PG).rss + present(SRC->p, N / 2 * PG), 0,
	   "small pages: their old place is empty");
	moves(N / 2 + 1, N / 2, 3, "to an odd place");
	touch_pages(SRC, d, 0, N / 2, 1);
	agree("the old place touched anew is its toucher's");
	touch_pages(DST, w, 0, N / 2, 1);
	agree("contents written to in their new place stay their owner's");
	in_child {
		agree("a child has them as its parent");
		read_all(w, DST->p, N / 2 * PG);
		touch_pages(DST, w, 0, N / 4, 1);
		agree("and its copies are theirs");
	}
	must(madvise(DST->p, N / 4 * PG, MADV_DONTNEED));
	agree("discarded in the new place they end");
	model_end(0);
	agree("the old place unmapped takes nothing with it");
	model_end(1);
	agree("the new one does");
}

static void within_one(void)
{
	model_of(0, area(2 * N * PG), 2 * N * PG);
	model_of(1, SRC->p, 2 * N * PG);
	DST->pages = 0;
	arm(SRC);
	disarm(SRC);
	touch_pages(SRC, a, 0, N, 1);
	touch_pages(SRC, b, 1, N / 2, 2);
	for (size_t i = 0; i < N / 4; i++)
		must(mtag_range(SRC->p + 2 * i * PG, PG, b, MTAG_RANGE_PRESENT)),
			SRC->owner[2 * i] = b;
	arm(SRC);
	is(try_move(N, 0, N, 0), N, "within one mapping: all pages moved");
	memcpy(SRC->owner + N, SRC->owner, N * sizeof(*SRC->owner));
	agree("within one mapping: each keeps its owner");
	disarm(SRC);
	model_end(0);
	agree("within one mapping: nothing is left");
}

static void refused(void)
{
	two_areas();
	moves(0, 0, 1, "the first one");
	is(-try_move(0, 1, 1, 0), EEXIST, "a place that has a page takes no other");
	agree("and nothing changes");
	must(madvise(SRC->p + 4 * PG, PG, MADV_DONTNEED));
	is(-try_move(4, 4, 1, 0), ENOENT, "a hole is not moved");
	is(try_move(4, 4, 4, UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES), 4, "but when asked to");
	agree("with pages about it");
	in_child {
		is(-try_move(20, 20, 1, 0), EINVAL, "a child may not move its parent's");
		agree("and changes nothing");
	}
	touch_pages(SRC, w, N / 2, N / 2, 1);
	agree("exact after all that was refused");
	end_areas();
}

/* While a child shares them pages are not moved. */
static void shared_pages(void)
{
	struct gate *g = gate();
	pid_t pid;

	two_areas();
	pid = child();
	if (!pid) {
		pass_gate(g, 1);
		agree("a child whose pages its parent could not move");
		_exit(0);
	}
	is(-try_move(0, 0, 2, 0), EBUSY, "pages that a child shares are not moved");
	agree("and nothing changes");
	open_gate(g, 1);
	reap(pid);
	must(munmap(g, PG));
	end_areas();
}

static void swapped_pages(void)
{
	if (!swap_zram()) {
		skip("swapped pages keep their owner when moved (no zram)");
		return;
	}
	two_areas();
	if (!page_out(SRC->p, N * PG))
		bail("MADV_PAGEOUT leaves %" PRIu64 " bytes", smaps(SRC->p, N * PG).rss);
	agree("before: all in swap");
	moves(0, 0, N / 2, "in swap");
	read_all(w, SRC->p + N / 2 * PG, N / 4 * PG);
	moves(N / 2, N / 2, N / 2, "some in swap, some just read back");
	must(munmap(DST->p, N / 8 * PG));
	agree("in swap: unmapped where they moved to");
	read_all(w, DST->p + N / 8 * PG, N / 8 * PG);
	agree("in swap: read back where they moved to");
	in_child {
		touch_pages(DST, w, N / 8, N / 4, 1);
		agree("in swap: written to by a child");
	}
	/* Out again, and moved by nothing: swapoff finds them where they are now. */
	reclaim(DST->p + N / 2 * PG, N / 4 * PG);
	agree("out again from the new place");
	is(swapoff_all(), 0, "swapoff works");
	agree("swapoff brings them back to their new place");
	end_areas();
}

static void zero_pages(void)
{
	two_areas();
	must(madvise(SRC->p, N * PG, MADV_DONTNEED));
	read_all(w, SRC->p, N * PG);
	agree("zero pages are nobody's");
	is(try_move(0, 0, N, 0), N, "zero pages may be moved");
	agree("and stay nobody's");
	touch_pages(DST, b, 0, N, 1);
	agree("until they are written to");
	end_areas();
}

static void huge_areas(void)
{
	model_of(0, huge_area(2 * HPAGE), 2 * HPAGE);
	model_of(1, huge_area(2 * HPAGE), 2 * HPAGE);
	touch_pages(SRC, a, 0, 1, 1);
	touch_pages(SRC, b, HPAGE / PG, 1, 1);
	must0(mtag_range(SRC->p + HPAGE / 4, HPAGE / 4, b, MTAG_RANGE_PRESENT));
	for (size_t i = 0; i < HPAGE / 4 / PG; i++)
		SRC->owner[HPAGE / 4 / PG + i] = b;
	/* Not the touch of what is missing, as it is to wait. */
	arm(DST);
}

/* 6.16 to 6.18 put a huge page there that is none, and crash where anybody looks at it, /proc/PID/pagemap for one. */
static bool breaks_zero_pages(void)
{
	struct utsname u;
	int major = 0, minor = 0;

	must(uname(&u));
	sscanf(u.release, "%d.%d", &major, &minor);
	return major == 6 && minor >= 16 && minor <= 18;
}

static void huge_zero_page(void)
{
	if (breaks_zero_pages()) {
		skip("the huge zero page may be moved (this kernel crashes by it)");
		return;
	}
	huge_areas();
	must(madvise(SRC->p, 2 * HPAGE, MADV_DONTNEED));
	read_all(w, SRC->p, HPAGE);
	is(try_move(0, 0, HPAGE / PG, 0), HPAGE / PG, "the huge zero page may be moved");
	agree("and is nobody's");
	touch_pages(DST, b, 0, 16, 1);
	agree("until it is written to");
	end_areas();
}

static void huge_pages(void)
{
	if (spew(THP "enabled", "madvise")) {
		skip("huge pages keep their owners when moved (none in this kernel)");
		return;
	}
	use_folios(0);
	spew(THP "hugepages-2048kB/enabled", "inherit");
	huge_areas();
	for (int tries = 1; smaps(SRC->p, 2 * HPAGE).huge < 2 * HPAGE && tries < 10; tries++) {
		end_areas();
		compact_memory();
		huge_areas();
	}
	is(smaps(SRC->p, 2 * HPAGE).huge, 2 * HPAGE, "two huge pages to be moved");
	moves(HPAGE / PG, 0, HPAGE / PG, "a huge page");
	is(smaps(DST->p, 2 * HPAGE).huge, HPAGE, "a huge page: it still is one");
	touch_pages(SRC, d, 0, 1, 1);
	/* Its middle is in b's range still. */
	for (size_t i = 0; i < HPAGE / 4 / PG; i++)
		SRC->owner[HPAGE / 4 / PG + i] = b;
	agree("a huge page: its old place touched anew");
	moves(7, HPAGE / PG + 5, 100, "pages of a huge page");
	is(smaps(SRC->p + HPAGE, HPAGE).huge, 0, "pages of a huge page: it was split");
	must(munmap(DST->p + HPAGE + HPAGE / 4 - PG, 2 * PG));
	agree("unmapped at the border of two owners");
	in_child {
		touch_pages(DST, w, HPAGE / PG, 64, 1);
		agree("a child that copies of what moved");
	}
	end_areas();
	huge_zero_page();
}

static void large_folios(void)
{
	size_t sizes[16], n = folio_sizes(sizes, COUNT(sizes)), len = 64 * KIB;

	if (!n) {
		skip("parts of folios keep their owner when moved (no such folios in this kernel)");
		return;
	}
	use_folios(len);
	model_of(0, area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE), HPAGE);
	model_of(1, area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE), HPAGE);
	for (size_t i = 0; i < HPAGE / len; i++)
		touch_pages(SRC, i % 2 ? a : b, i * (len / PG), 1, 1);
	ok(in_folios(SRC->p, HPAGE, len) == HPAGE, "folios of 64 KiB to be moved");
	arm(DST);
	moves(len / PG, len / PG, len / PG, "a folio");
	moves(5 * len / PG + 3, 5 * len / PG + 7, len / PG, "parts of two folios");
	touch_pages(SRC, d, 0, 10 * len / PG, 1);
	agree("the places left touched anew");
	if (swap_zram()) {
		ssize_t got;

		madvise(SRC->p + 16 * len, 4 * len, MADV_PAGEOUT);
		agree("folios in swap to be moved");
		got = try_move(16 * len / PG, 16 * len / PG, len / PG, 0);
		ok(got == (ssize_t)(len / PG) || got == -EBUSY || got > 0,
		   "a folio in swap is moved, or refused (%zd)", got);
		agree("a folio in swap keeps its owner");
		read_all(w, DST->p + 16 * len, got > 0 ? (size_t)got * PG : 0);
		agree("and when it is read back");
		swapoff_all();
		agree("and after swapoff");
	}
	end_areas();
	folios_end();
}

/* A fault that is resolved by a page from elsewhere: the page's owner, not the toucher. */
static void *serve(void *arg)
{
	struct uffd_msg msg;
	size_t n = *(size_t *)arg;

	prefault_stack();
	for (size_t i = 0; i < n; i++) {
		struct pollfd ready = {.fd = uffd, .events = POLLIN};
		size_t at;

		if (poll(&ready, 1, 60000) != 1 || read(uffd, &msg, sizeof(msg)) != sizeof(msg))
			bail("no fault");
		at = ((msg.arg.pagefault.address & -PG) - (uintptr_t)DST->p) / PG;
		if (try_move(at, N - 1 - at, 1, 0) != 1)
			bail("UFFDIO_MOVE");
	}
	return NULL;
}

static void on_demand(void)
{
	size_t n = N / 2;
	pthread_t thread;

	two_areas();
	if (pthread_create(&thread, NULL, serve, &n))
		bail("thread");
	/* Each page is there once the touch returns. */
	read_all(w, DST->p, n * PG);
	pthread_join(thread, NULL);
	is(anon_of(w), 0, "what a fault is given from elsewhere is not the toucher's");
	agree("but its owner's");
	end_areas();
}

static atomic_bool stop;
static atomic_ulong rounds;

/*
 * However often others hold a page. 6.18 may have moved one without saying so: then its place is taken, and the next one
 * is moved.
 */
static void move_all(void *dst, const void *src, size_t len)
{
	struct uffdio_move move = {.dst = (uintptr_t)dst, .src = (uintptr_t)src, .len = len};

	while (move.len) {
		move.move = 0;
		if (ioctl(uffd, UFFDIO_MOVE, &move) && errno == EEXIST)
			move.move = PG;
		else if (move.move <= 0 && errno != EAGAIN && errno != EBUSY)
			bail("UFFDIO_MOVE");
		if (move.move > 0) {
			move.dst += move.move;
			move.src += move.move;
			move.len -= move.move;
		}
	}
}

/* To and back for as long as others look. */
static void *shuttle(void *arg)
{
	(void)arg;
	prefault_stack();
	while (!atomic_load(&stop)) {
		move_all(DST->p, SRC->p, N * PG);
		move_all(SRC->p, DST->p, N * PG);
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

/* Walks of the page tables, reclaim and compaction while pages are moved to and back. */
static void while_watched(void)
{
	int status, audits = more(3, 12);
	bool swap = swap_zram();
	pthread_t thread;

	two_areas();
	arm(SRC);
	if (pthread_create(&thread, NULL, shuttle, NULL))
		bail("thread");
	for (int i = 0; i < audits; i++) {
		/* Says so when it cannot count what moves all the time. */
		ctl(&status, "-j audit %d 2>/dev/null", getpid());
		if (swap)
			madvise(SRC->p, N * PG, MADV_PAGEOUT);
		compact_memory();
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	diag("%lu times to and back", atomic_load(&rounds));
	agree("after %d audits of what was moving", audits);
	clean(getpid(), "an audit at rest agrees");
	swapoff_all();
	agree("and after swapoff");
	end_areas();
}

/* ---- what moves while its process is being tracked ---- */

#define MOVED (128 * MIB)

static char *lower, *upper;
static atomic_bool moving;

static void *move_down(void *arg)
{
	prefault_stack();
	atomic_store(&moving, true);
	move_all(lower, upper, MOVED);
	return arg;
}

/* A call that began before takes pages to where the walk has been. */
static void moved_meanwhile(void)
{
	struct mtag_ioc_attach a = {.size = sizeof(a)};
	int fd = must(open(MTAG_DEVICE, O_RDONLY | O_CLOEXEC));
	char *one = area(MOVED), *other = area(MOVED);
	pthread_t thread;

	lower = one < other ? one : other;
	upper = one < other ? other : one;
	uffd = uffd_open();
	memset(upper, 1, MOVED);
	uffd_register(uffd, lower, MOVED);
	if (pthread_create(&thread, NULL, move_down, NULL))
		bail("thread");
	while (!atomic_load(&moving))
		;
	usleep(1000);
	must(ioctl(fd, MTAG_IOC_ATTACH, &a));
	pthread_join(thread, NULL);
	is(present(lower, MOVED), MOVED, "while it is being tracked: all pages moved");
	clean(getpid(), "while it is being tracked: none of what moves is missed");
}

static void tracked_meanwhile(void)
{
	pid_t keeper;

	if (!has_uffd_move())
		return;
	/* The hooks are in already: a move that begins could have been noted. */
	frozen_child(keeper) begin();
	for (int i = 0; i < 3; i++) {
		in_child
			moved_meanwhile();
	}
	end_child(keeper);
}

int main(void)
{
	begin_test();
	swapoff_all();
	tracked_meanwhile();
	begin();
	uffd = uffd_open();
	if (uffd < 0)
		skip_all("this kernel has no UFFDIO_MOVE");
	a = model_tag("a");
	b = model_tag("b");
	d = model_tag("d");
	w = model_tag("worker");
	spew(THP "khugepaged/scan_sleep_millisecs", "1000000");
	small_pages();
	within_one();
	refused();
	shared_pages();
	swapped_pages();
	zero_pages();
	huge_pages();
	large_folios();
	on_demand();
	while_watched();
	spew(THP "enabled", "always");
	return end_test();
}
