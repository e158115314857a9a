// SPDX-License-Identifier: GPL-2.0
/* userfaultfd: pages that another thread or another process puts in. */
/* vm: */
#include "lib/test.h"
#include <linux/userfaultfd.h>
#include <poll.h>

#define N 48

static mtag_t a, h, d;

static int uffd_over(char *p)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {(uintptr_t)p, N * PG},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		skip_all("no userfaultfd in this kernel");
	must(ioctl(fd, UFFDIO_API, &api));
	must(ioctl(fd, UFFDIO_REGISTER, &reg));
	return fd;
}

static void put(int fd, char *page, char *from)
{
	struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)from, .len = PG};

	must(ioctl(fd, UFFDIO_COPY, &copy));
}

static void put_zero(int fd, char *page)
{
	struct uffdio_zeropage zero = {.range = {(uintptr_t)page, PG}};

	must(ioctl(fd, UFFDIO_ZEROPAGE, &zero));
}

struct handler {
	int fd, faults, zeros;
	mtag_t tag;
	char *from;
};

/* Serves @faults: zero pages for reads of the first ones, copies for the others. */
static void *serve(void *arg)
{
	struct handler *handler = arg;
	struct uffd_msg msg;

	prefault_stack();
	mtag_enter(handler->tag);
	for (int i = 0; i < handler->faults; i++) {
		struct pollfd poll_fd = {.fd = handler->fd, .events = POLLIN};
		char *page;

		if (poll(&poll_fd, 1, 60000) != 1 ||
		    read(handler->fd, &msg, sizeof(msg)) != sizeof(msg))
			bail("no fault");
		page = (char *)(uintptr_t)(msg.arg.pagefault.address & -PG);
		if (i < handler->zeros)
			put_zero(handler->fd, page);
		else
			put(handler->fd, page, handler->from);
	}
	mtag_enter(0);
	return NULL;
}

static void by_thread(void)
{
	char *p = area(N * PG), *from = area(PG);
	struct handler handler = {uffd_over(p), N, N / 4, h, from};
	pthread_t thread;
	int error;

	touch(0, from, PG);
	error = pthread_create(&thread, NULL, serve, &handler);
	if (error)
		bail("thread");
	read_all(a, p, N * PG);
	pthread_join(thread, NULL);
	is(anon_of(h), (N - N / 4) * PG,
	   "pages that a thread installs for another belong to the installer's tag");
	is(anon_of(a), 0, "zero pages are nobody's");
	is(smaps(p, N * PG).anon, (N - N / 4) * PG, "smaps says the same");
	exact("pages put in by a thread are exact");
	touch(a, p, N / 4 * PG);
	is(anon_of(a), N / 4 * PG, "a zero page written to is the writer's");
	exact("exact after that");
	close(handler.fd);
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(h), 0, "nothing is left");
}

static void by_process(void)
{
	char *p = area(N * PG), *from = area(PG);
	struct handler handler = {uffd_over(p), N, 0, h, from};
	mtag_t before;
	pid_t pid;

	touch(0, from, PG);
	must0(mtag_default(d));
	pid = child();
	if (!pid) {
		serve(&handler);
		is(anon_of(h), 0, "the process that serves is charged nothing");
		exact("and is exact");
		_exit(0);
	}
	before = mtag_enter(a);
	for (size_t i = 0; i < N; i++)
		(void)*(volatile char *)(p + i * PG);
	mtag_leave(before);
	reap(pid);
	owns(d, p, N * PG, "what another process puts in is the default tag's");
	is(anon_of(d), N * PG, "all of it");
	is(anon_of(a) + anon_of(h), 0, "and no thread's");
	exact("pages put in by a process are exact");
	close(handler.fd);
	must(munmap(p, N * PG));
	must0(mtag_default(0));
	is(anon_of(d), 0, "nothing is left");
}

/* UFFDIO_COPY without a fault. */
static void unasked(void)
{
	char *p = area(N * PG), *from = area(PG);
	struct handler handler = {uffd_over(p), N, 0, h, from};
	struct uffdio_range all = {(uintptr_t)p, N * PG};

	touch(0, from, PG);
	for (size_t i = 0; i < N; i++) {
		mtag_t before = mtag_enter(i % 2 ? a : h);

		put(handler.fd, p + i * PG, from);
		mtag_leave(before);
	}
	is(anon_of(a), N / 2 * PG, "UFFDIO_COPY is the caller's current tag's");
	is(anon_of(h), N / 2 * PG, "each time");
	must(ioctl(handler.fd, UFFDIO_UNREGISTER, &all));
	in_child {
		touch(d, p, N * PG);
		is(anon_of(a), N / 2 * PG, "a forked child's copies of them keep the owner");
		exact("and are exact");
	}
	close(handler.fd);
	must(munmap(p, N * PG));
	exact("exact without them");
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	h = tag("handler");
	d = tag("default");
	by_thread();
	by_process();
	unasked();
	return end_test();
}
