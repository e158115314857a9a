// SPDX-License-Identifier: GPL-2.0
/*
 * A parked process is tracked again, and that fails half-way, for lack of memory: what it asked for meanwhile is undone
 * as when it is untracked. A process that waits for a tag's size is told, and no page stays pinned.
 */
/* vm: group=parallel mem=1G timeout=300 */
#include <sys/eventfd.h>
#include "lib/fail.h"
#include "lib/keepers.h"

#define N	 32
#define STALL_MS 20000

static const uint64_t never = UINT64_C(1) << 40;

/* A relative that shares pages, so that the process is parked when it is untracked. */
static pid_t relative(struct gate *g)
{
	pid_t pid = child();

	if (!pid) {
		open_gate(g, 1);
		pass_gate(g, 2);
		_exit(0);
	}
	pass_gate(g, 1);
	return pid;
}

/* Tracks this process; its first allocation takes long, until told otherwise, and fails. */
static pid_t tracker(void)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof(number), "%d", getpid());
	fail_set("stall", STALL_MS);
	fail_beneath_function("mtag_track_start");
	fail_arm(-1, 1);
	pid = child();
	if (!pid) {
		dup2(must(open("/dev/null", O_WRONLY)), STDERR_FILENO);
		execlp("mtagctl", "mtagctl", "track", number, NULL);
		_exit(9);
	}
	if (!until(fail_count() > 0, 60))
		bail("nothing fails");
	return pid;
}

static uint64_t pinned(void)
{
	return file_field("/proc/self/status", "VmPin:");
}

static void half_way(void)
{
	uint32_t *word = (uint32_t *)area(PG);
	struct mtag_ioc_thread thread = {.size = sizeof(thread), .word = (uintptr_t)word};
	int fd = must(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), status;
	struct gate *g = gate();
	char *p = area(N * PG);
	pid_t pid, who;
	mtag_t t;

	begin();
	t = tag("t");
	touch(t, p, N * PG);
	pid = relative(g);
	ctl(&status, "untrack %d", getpid());
	is((uint64_t)status, 0, "a process with a relative is untracked");
	ok(until(!pinned(), 30), "and nothing of it is pinned");
	who = tracker();
	is((uint64_t)mtag_ioctl(MTAG_IOC_THREAD, &thread), 0,
	   "while it is tracked again it may register a word");
	ok(pinned() > 0, "whose page is pinned");
	/* This waits for a grace period, which that allocation holds up. */
	is((uint64_t)mtag_notify(t, never, fd), 0, "and set a limit");
	fail_set("stall", 0);
	must(waitpid(who, &status, 0));
	fail_disarm(NULL);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 2, "then tracking fails");
	ok(until(signals(fd) > 0, 30), "who set the limit is told that it has ended");
	ok(until(!pinned(), 30), "and nothing is pinned");
	is((uint64_t)mtag_notify(t, never, fd), (uint64_t)-ESRCH, "no other limit can be set");
	ctl(&status, "track %d", getpid());
	is((uint64_t)status, 0, "the process can be tracked later");
	exact("and is exact then");
	open_gate(g, 2);
	reap(pid);
	exact("also without its relative");
}

int main(void)
{
	begin_test();
	fail_begin();
	in_child
		half_way();
	fail_end();
	return end_test();
}
