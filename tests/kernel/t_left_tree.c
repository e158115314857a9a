// SPDX-License-Identifier: GPL-2.0
/*
 * A call that asks for a tag by its name, and waits for the memory with that name until its process is neither tracked
 * nor known: it has left its tree, in which the tag exists by now.
 */
/* vm: group=plain mem=2G timeout=900 module=linger_ms=1 */
#include "lib/keepers.h"
#include "lib/netlink.h"
#include <linux/userfaultfd.h>

#define CALLS 40 /* more tags than a space has room for at first */

struct call {
	pthread_t thread;
	char *name;
	int error;
};

static void *ask(void *arg)
{
	struct call *call = arg;
	struct mtag_ioc_child child = {
		.size = sizeof(child), .name = (uintptr_t)call->name, .name_len = 3};

	call->error = mtag_ioctl(MTAG_IOC_CHILD, &child);
	return NULL;
}

/* A userfaultfd for @pages pages at @p, none of which is present. */
static int held(char *p, size_t pages)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {(uintptr_t)p, pages * PG},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		bail("no userfaultfd");
	must(ioctl(fd, UFFDIO_API, &api));
	must(ioctl(fd, UFFDIO_REGISTER, &reg));
	return fd;
}

static void supply(int fd, char *page, int number)
{
	static _Alignas(PG) char text[PG];
	struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)text, .len = PG};

	snprintf(text, sizeof(text), "n%02d", number);
	must(ioctl(fd, UFFDIO_COPY, &copy));
}

/*
 * Asks for the @nr names from @first on, is untracked while it waits for them, and gets them when @g comes to
 * @then. Returns how many calls were answered with a tag, or with ESRCH.
 */
static int late(struct gate *g, int then, int first, int nr)
{
	static struct call calls[CALLS];
	char *names = area(CALLS * PG);
	int fd = held(names, CALLS), good = 0;
	struct uffd_msg msg;

	for (int i = 0; i < nr; i++) {
		calls[i].name = names + i * PG;
		if (pthread_create(&calls[i].thread, NULL, ask, &calls[i]))
			bail("no thread");
	}
	for (int i = 0; i < nr; i++)
		must(read(fd, &msg, sizeof(msg)));
	must0(nl_ask(nl_open(), MTAG_CMD_UNTRACK, 0, getpid())->error);
	atomic_fetch_add(&g->step, 1);
	pass_gate(g, then);
	for (int i = 0; i < nr; i++) {
		supply(fd, calls[i].name, first + i);
		pthread_join(calls[i].thread, NULL);
		good += !calls[i].error || calls[i].error == -ESRCH;
	}
	return good;
}

int main(void)
{
	struct gate *g = gate(), *joined = gate();
	pid_t parent, relative;

	begin_test();
	nl_begin();
	parent = child();
	if (!parent) {
		begin();
		relative = child();
		if (!relative) {
			pass_gate(joined, 1);
			_exit(late(g, 3, 1, CALLS) != CALLS);
		}
		open_gate(joined, 1);
		if (late(g, 4, CALLS, 1) != 1)
			_exit(1);
		reap(relative);
		_exit(0);
	}
	pass_gate(g, 2);
	ok(idle(), "nobody is tracked, and the hooks are out");
	open_gate(g, 3);
	/* The relative has all its tags before the other one asks for the last of them. */
	ok(until(!sh("grep -q '^State:.*Z' /proc/$(pgrep -P %d)/status", parent), 60),
	   "a process that has left its tree makes tags");
	open_gate(g, 4);
	reap(parent);
	ok(true, "another one that has left it is answered");
	return end_test();
}
