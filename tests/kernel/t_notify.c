// SPDX-License-Identifier: GPL-2.0
/*
 * mtag_notify(): the eventfd is signalled by the fault that makes a tag reach a size, not before and not later; again
 * after a fall; for anonymous, file, shared and huge pages; and it ends with the eventfd, the program or the tracking.
 */
/* vm: also=7.3-rt group=parallel mem=1G timeout=300 */
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include "lib/keepers.h"
#include "lib/netlink.h"

#define FAR 16384 /* pages: 64 MiB, far above what two CPUs may add unseen */

static mtag_t t;

static int notified(uint64_t pages)
{
	int fd = must(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));

	must0(mtag_notify(t, pages * PG, fd));
	return fd;
}

/* Touches pages of @p one by one from @from on, until the signal; returns how many are there then. */
static size_t touch_until(int fd, char *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		touch(t, p + i * PG, PG);
		if (signals(fd))
			return i + 1;
	}
	return 0;
}

static void at_the_page(size_t pages, const char *what)
{
	char *p = area((pages + 8) * PG);
	int fd = notified(pages);

	touch(t, p, (pages - 40) * PG);
	is(signals(fd), 0, "%s: not told 40 pages before", what);
	is(touch_until(fd, p, pages - 40, pages + 8), pages, "%s: told by the page that reaches it",
	   what);
	owns(t, p, (pages + 8) * PG, "%s: and smaps shows as many pages as the tag has", what);
	touch(t, p + pages * PG, 8 * PG);
	is(signals(fd), 0, "%s: told once", what);
	must(munmap(p, (pages + 8) * PG));
	close(fd);
}

/* Told again after a fall by an eighth in a small tag, of a quarter in a large one. */
static void again(size_t pages, size_t enough, const char *what)
{
	char *p = area(pages * PG);
	int fd = notified(pages);

	touch(t, p, pages * PG);
	is(signals(fd), 1, "%s: told", what);
	must(madvise(p, (pages / 8 - 1) * PG, MADV_DONTNEED));
	touch(t, p, (pages / 8 - 1) * PG);
	is(signals(fd), 0, "%s: not told again after a smaller fall", what);
	for (int i = 0; i < 3; i++) {
		must(madvise(p, enough * PG, MADV_DONTNEED));
		touch(t, p, (enough - 1) * PG);
		if (signals(fd))
			bail("told a page too early");
		touch(t, p + (enough - 1) * PG, PG);
		if (!signals(fd))
			bail("not told again");
	}
	ok(true, "%s: told again after each of three falls, by the page that reaches it", what);
	must(munmap(p, pages * PG));
	close(fd);
}

/* Limits that have no eighth of a page: the tag must lose one page. */
static void smallest(void)
{
	char *p = area(2 * PG);
	int one = notified(1), two = notified(2);

	for (int i = 0; i < 2; i++) {
		touch(t, p, 2 * PG);
		is(signals(one) + 16 * signals(two), 1 + 16, "limits of one and two pages: told");
		must(madvise(p + PG, PG, MADV_DONTNEED));
		touch(t, p + PG, PG);
		is(signals(one) + 16 * signals(two), 16,
		   "after the fall of a page the limit of two is told again, that of one is not");
		must(madvise(p, 2 * PG, MADV_DONTNEED));
	}
	must(munmap(p, 2 * PG));
	close(one);
	close(two);
}

static void kinds(void)
{
	int memfd = must(memfd_create("notify", MFD_CLOEXEC)), fd;
	mtag_t before;
	char *p;

	must(ftruncate(memfd, 64 * PG));
	before = mtag_enter(t);
	p = must(mmap(NULL, 64 * PG, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0));
	mtag_leave(before);
	madvise(p, 64 * PG, MADV_NOHUGEPAGE);
	fd = notified(40);
	for (size_t i = 0; i < 39; i++)
		p[i * PG] = 1;
	is(signals(fd), 0, "shared memory: not told a page before");
	p[39 * PG] = 1;
	is(signals(fd), 1, "shared memory: told by the page that reaches it");
	must(munmap(p, 64 * PG));
	close(fd);
	close(memfd);
	if (!has_huge_pages()) {
		skip("no huge pages");
		return;
	}
	p = huge_area(HPAGE);
	fd = notified(500);
	touch(t, p, 1);
	is(signals(fd), 1, "a huge page: told by the fault that brings it");
	must(munmap(p, HPAGE));
	close(fd);
}

static atomic_bool copied;

/* All limits are compared whenever one has come or gone. There may be too many that have yet to go. */
static void *come_and_go(void *unused)
{
	(void)unused;
	while (!copied) {
		int fd = must(eventfd(0, EFD_CLOEXEC)), err = mtag_notify(t, FAR * PG, fd);

		if (err != -ENOSPC)
			must0(err);
		close(fd);
	}
	return NULL;
}

/* The copy replaces a page: at no instant has the tag one more. */
static void copies(size_t rounds)
{
	char *p = area(100 * PG);
	int fd = notified(101);
	pthread_t thread;

	touch(t, p, 100 * PG);
	must0(pthread_create(&thread, NULL, come_and_go, NULL));
	for (size_t i = 0; i < rounds; i++) {
		pid_t pid = child();

		if (!pid)
			pause();
		touch(t, p, 100 * PG);
		kill(pid, SIGKILL);
		must(waitpid(pid, NULL, 0));
	}
	copied = true;
	pthread_join(thread, NULL);
	is(signals(fd), 0, "copies on write do not count while other limits come and go");
	must(munmap(p, 100 * PG));
	close(fd);
}

static void copy_on_write(void)
{
	char *p = area(100 * PG);
	struct gate *g = gate();
	int fd = notified(101);
	pid_t pid;

	touch(t, p, 100 * PG);
	pid = child();
	if (!pid) {
		uint64_t n = 0;

		touch(t, area(50 * PG), 50 * PG);
		pass_gate(g, 1);
		_exit((int)n);
	}
	touch(t, p, 100 * PG);
	is(signals(fd), 0, "neither copies on write nor a child that touches more count");
	open_gate(g, 1);
	reap(pid);
	must(munmap(p, 100 * PG));
	close(fd);
}

#define THREADS 4

static atomic_size_t begun, touched, early, late, latecomers;
static int shared_fd;
static char *ground;

static void *toucher(void *unused)
{
	struct pollfd told = {.fd = shared_fd, .events = POLLIN};
	size_t i, n, mine = 0;

	(void)unused;
	mtag_enter(t);
	while ((i = atomic_fetch_add(&begun, 1)) < 2 * FAR) {
		ground[i * PG] = 1;
		n = atomic_fetch_add(&touched, 1) + 1;
		if (poll(&told, 1, 0))
			early += atomic_load(&begun) < FAR;
		else
			mine += n >= FAR;
	}
	late += mine;
	latecomers += mine > 0;
	return NULL;
}

/*
 * However many threads touch: told when so many have been touched, not before as many were begun.
 * On PREEMPT_RT a thread of the kernel tells it, which holds up only the one that has reached the
 * size: the others may go on.
 */
static void threads(void)
{
	pthread_t thread[THREADS];

	ground = area(2 * FAR * PG);
	shared_fd = notified(FAR);
	for (int n = 0; n < THREADS; n++)
		must0(pthread_create(&thread[n], NULL, toucher, NULL));
	for (int n = 0; n < THREADS; n++)
		must0(pthread_join(thread[n], NULL));
	is(early, 0, "four threads that touch at once are never told too early");
	if (strstr(slurp("/proc/version"), "PREEMPT_RT"))
		ok(latecomers < THREADS,
		   "nor do all of them go on, at %d pages, without being told (%zu times)", FAR,
		   (size_t)late);
	else
		is(late, 0, "nor does one of them go on, at %d pages, without being told", FAR);
	must(munmap(ground, 2 * FAR * PG));
	close(shared_fd);
}

static void set_at_once(void)
{
	char *p = area(64 * PG);
	int fd, other;

	touch(t, p, 64 * PG);
	fd = notified(64);
	is(signals(fd), 1, "a size that the tag has already is told by the call");
	must0(mtag_notify(t, 128 * PG, fd));
	is(signals(fd), 0, "another size replaces it");
	must0(mtag_notify(t, 0, fd));
	is(-mtag_notify(t, 0, fd), ENOENT, "0 ends it, once");
	must0(mtag_notify(t, UINT64_MAX, fd));
	is(signals(fd), 0, "the largest number is not told, as no tag reaches it");
	must0(mtag_notify(t, 0, fd));
	other = notified(65);
	close(other);
	touch(t, area(PG), PG);
	is(-mtag_notify(t, PG, 1000), EBADF, "no descriptor");
	is(-mtag_notify(t, PG, 0), EINVAL, "no eventfd");
	is(-mtag_notify(60000, PG, fd), ENOENT, "no tag");
	must(munmap(p, 64 * PG));
	close(fd);
}

/* Each closed eventfd gives its place back, if a little later. */
static void bounded(void)
{
	int fd[65], n;

	for (int round = 0; round < 3; round++) {
		for (n = 0; n < 64; n++) {
			fd[n] = must(eventfd(0, EFD_CLOEXEC));
			if (!until(!mtag_notify(t, UINT64_C(1) << 32, fd[n]), 10))
				break;
		}
		is(n, 64, "64 eventfds can wait");
		fd[64] = must(eventfd(0, EFD_CLOEXEC));
		is(-mtag_notify(t, UINT64_C(1) << 32, fd[64]), ENOSPC, "a 65th cannot");
		while (n-- > 0)
			close(fd[n]);
		close(fd[64]);
	}
}

/* Sets a size of untagged of another process, by netlink; an error. */
static int notify_other(int sock, pid_t pid, uint64_t bytes, int fd)
{
	struct {
		struct nlmsghdr nl;
		struct genlmsghdr genl;
		struct nlattr pid_attr;
		uint32_t pid;
		struct nlattr tag_attr;
		uint16_t tag, pad;
		struct nlattr bytes_attr;
		uint32_t bytes[2];
		struct nlattr fd_attr;
		uint32_t fd;
	} m = {
		.nl = {sizeof(m), nl_family, NLM_F_REQUEST | NLM_F_ACK, 1, 0},
		.genl = {.cmd = MTAG_CMD_LIMIT, .version = 1},
		.pid_attr = {NLA_HDRLEN + 4, MTAG_A_PROC_PID},
		.pid = pid,
		.tag_attr = {NLA_HDRLEN + 2, MTAG_A_TAG_ID},
		.bytes_attr = {NLA_HDRLEN + 8, MTAG_A_LIMIT_BYTES},
		.bytes = {(uint32_t)bytes, bytes >> 32},
		.fd_attr = {NLA_HDRLEN + 4, MTAG_A_LIMIT_FD},
		.fd = fd,
	};

	must(send(sock, &m, sizeof(m), 0));
	return nl_hear(sock)->error;
}

/* Those who read a process cannot use up its own places. */
static void reserved(void)
{
	struct gate *g = gate();
	pid_t pid = child();
	int fd[33], sock, n;

	if (!pid) {
		int own[33];

		open_gate(g, 1);
		pass_gate(g, 2);
		for (n = 0; n < 33; n++) {
			own[n] = must(eventfd(0, EFD_CLOEXEC));
			if (mtag_notify(t, UINT64_C(1) << 32, own[n]))
				break;
		}
		is(n, 32, "the process itself has as many");
		_exit(0);
	}
	nl_begin();
	sock = nl_open();
	pass_gate(g, 1);
	for (n = 0; n < 33; n++) {
		fd[n] = must(eventfd(0, EFD_CLOEXEC));
		if (notify_other(sock, pid, UINT64_C(1) << 32, fd[n]))
			break;
	}
	is(n, 32, "32 sizes can be set by others");
	is(-notify_other(sock, pid, UINT64_C(1) << 32, fd[32]), ENOSPC, "a 33rd cannot");
	is(notify_other(sock, pid, UINT64_C(1) << 33, fd[0]), 0, "but one can be replaced");
	open_gate(g, 2);
	reap(pid);
	for (n = 0; n < 33; n++)
		close(fd[n]);
	close(sock);
}

/* The other side of a fork waits for this one's end. */
static void ends(const char *how)
{
	int fd = must(eventfd(0, EFD_NONBLOCK));
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	struct gate *g = gate();
	pid_t pid = child();

	if (!pid) {
		must0(mtag_notify(t, UINT64_C(1) << 40, fd));
		open_gate(g, 1);
		if (!strcmp(how, "executes another program"))
			execl("/bin/sleep", "sleep", "1000", NULL);
		pass_gate(g, 2);
		_exit(0);
	}
	pass_gate(g, 1);
	if (!strcmp(how, "is untracked"))
		sh("build/bin/mtagctl untrack %d", (int)pid);
	else if (!strcmp(how, "ends"))
		open_gate(g, 2);
	is(poll(&wait, 1, 10000 * (int)slowness()), 1, "who waits is told when the process %s",
	   how);
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0));
	close(fd);
}

/* From outside, by mtagctl: it exits with 3 as soon as the tag is there. */
static void from_outside(void)
{
	char *p = area(300 * PG), *text;
	pid_t pid = child();
	int status = 0;

	if (!pid) {
		usleep(500000);
		touch(t, p, 299 * PG);
		usleep(500000);
		touch(t, p + 299 * PG, PG);
		pause();
	}
	text = ctl(&status, "-j limit %d notify 1200K", (int)pid);
	is((uint64_t)status, 3, "mtagctl limit exits with 3");
	is(json_u64(text, "limit_bytes"), 300 * PG, "and names the limit");
	ok(show(pid, "notify").rss >= 300 * PG, "when the tag has as much");
	ctl(&status, "limit -t 0.1 %d notify 1G", (int)pid);
	is((uint64_t)status, 0, "it exits with 0 at the timeout");
	ctl(&status, "limit %d nothing 1G", (int)pid);
	is((uint64_t)status, 2, "and with 2 if there is no such tag");
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0));
	must(munmap(p, 300 * PG));
}

/* The most that the kernel saw resident in `cache 16 FILL`, in bytes; its exit status in *@status. */
static uint64_t cache_of(const char *fill, int *status)
{
	pid_t pid = must(fork());
	struct rusage used;

	if (!pid) {
		execl("build/examples/cache", "cache", "16", fill, NULL);
		_exit(127);
	}
	must(wait4(pid, status, 0, &used));
	return (uint64_t)used.ru_maxrss * KIB;
}

/*
 * examples/cache.c, filled with 16 times its limit; the kernel's own maximum judges, which each CPU may leave behind by
 * 64 pages of each kind.
 */
static void cache(void)
{
	int empty_status, status;
	uint64_t empty = cache_of("0", &empty_status), full = cache_of("256", &status);

	is((uint64_t)status, 0, "the cache that is told stays below its limit, by its own peak");
	ok(!empty_status && full <= empty + 17 * MIB && full >= empty + 12 * MIB,
	   "and by the kernel's maximum: %" PRIu64 " KiB, empty %" PRIu64 " KiB", full / KIB,
	   empty / KIB);
}

int main(void)
{
	begin_test();
	begin();
	t = tag("notify");
	/* First: a program's maximum begins with what its parent had at the fork. */
	cache();
	at_the_page(100, "100 pages");
	at_the_page(FAR, "16384 pages");
	again(96, 12, "96 pages");
	smallest();
	again(FAR, FAR / 4, "16384 pages");
	kinds();
	copy_on_write();
	copies(100);
	threads();
	set_at_once();
	bounded();
	reserved();
	ends("ends");
	ends("executes another program");
	ends("is untracked");
	from_outside();
	exact("and all adds up");
	return end_test();
}
