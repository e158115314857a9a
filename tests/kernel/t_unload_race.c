// SPDX-License-Identifier: GPL-2.0
/*
 * The module goes, or its hooks do, while a fork or an exec of a tracked process is delayed at each place (each second,
 * without --long) at which the module allocates for it: nothing is published any more then, and nothing is left. What
 * uses freed memory is seen on the kernels of our own. If only the parent goes its child is counted, or untracked.
 */
/* vm: repairs=any because="a child whose parent goes meanwhile is counted by its first reader" group=plain mem=2G timeout=900 module=linger_ms=1 */
#include "lib/test.h"
#include "lib/fail.h"
#include "lib/keepers.h"

#define STALL_MS 150

static int attach(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg)};
	int fd = must(open(MTAG_DEVICE, O_RDONLY | O_CLOEXEC)), error;

	error = ioctl(fd, MTAG_IOC_ATTACH, &arg) ? -errno : 0;
	close(fd);
	return error;
}

static void forks(void)
{
	pid_t pid = must(fork());

	if (!pid)
		_exit(0);
	must(waitpid(pid, NULL, 0));
	_exit(0);
}

static void execs(void)
{
	execl("/bin/true", "true", NULL);
	_exit(1);
}

/* A tracked process that is delayed at its @n-th allocation; it has begun when this returns. */
static pid_t delayed(void (*run)(void), int n)
{
	struct gate *g = gate();
	pid_t pid = child();

	if (!pid) {
		must0(attach());
		fail_arm(getpid(), n);
		open_gate(g, 1);
		run();
	}
	pass_gate(g, 1);
	return pid;
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = {0};

	must(waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT));
	return info.si_pid == pid;
}

/* The module is taken away and loaded again. */
static bool unloaded(void)
{
	return !module_unload_soon("mtag") && !module_load(module_path(), "linger_ms=1");
}

/* The process is not tracked any more: if it was the last the hooks go out soon. */
static void untrack(pid_t pid)
{
	sh("mtagctl untrack %d 2>/dev/null", pid);
	usleep(STALL_MS * 2000);
}

static void delay_each(void (*run)(void), bool unload, const char *what)
{
	int bad = 0, delays = 0, missed = 0, status, delayed_now;
	int step = more(2, 1);

	/* Until two numbers are beyond the last allocation. */
	for (int n = 1; missed * step < 2; n += step) {
		pid_t pid;

		fail_beneath_mtag();
		pid = delayed(run, n);
		until(fail_count() > 0 || has_ended(pid), 30);
		if (unload)
			bad += !unloaded();
		else
			untrack(pid);
		must(waitpid(pid, &status, 0));
		bad += status != 0;
		delayed_now = fail_disarm(NULL);
		delays += delayed_now;
		missed = delayed_now ? 0 : missed + 1;
	}
	ok(delays > 2, "%s: delayed at %d places", what, delays);
	is(bad, 0, "%s: both come to their end", what);
	ok(until(!health("tracked"), 30), "%s: nobody stays tracked", what);
	is(health("drift"), 0, "%s: no drift", what);
	is(health("repairs"), 0, "%s: nothing is repaired", what);
}

/* ---- a fork while only its process is untracked ---- */

/* Has pages of a tag, forks a child that shares them, and tells its pid by @at. */
static pid_t shares(struct gate *at, int n)
{
	struct gate *g = gate();
	pid_t pid = child();

	if (!pid) {
		begin();
		touch(tag("shared"), area(64 * PG), 64 * PG);
		fail_arm(getpid(), n);
		open_gate(g, 1);
		pid = must(fork());
		if (pid)
			open_gate(at, pid);
		for (;;)
			pause();
	}
	pass_gate(g, 1);
	return pid;
}

static bool is_right(pid_t pid, const char *who, int n)
{
	struct audit a = audit(pid);

	if (a.rows == 1 && !a.drift && a.accounted == a.kernel)
		return true;
	diag("%d: %s: %" PRIu64 " rows, kernel %" PRIu64 " accounted %" PRIu64 " drift %" PRIu64, n,
	     who, a.rows, a.kernel, a.accounted, a.drift);
	return false;
}

/* Each of them is right once it is asked to be tracked, and stays so while the other is. */
static bool both_right(pid_t parent, pid_t shared, int n)
{
	bool good = !sh("mtagctl track %d", shared);

	good &= is_right(shared, "child", n);
	good &= !sh("mtagctl track %d", parent);
	return good & is_right(parent, "parent", n) & is_right(shared, "child beside it", n);
}

static void untrack_each(void)
{
	int n, bad = 0, delays = 0, missed = 0, delayed_now;
	pid_t keeper;

	/* The hooks stay. */
	frozen_child(keeper) must0(attach());
	for (n = 1; missed < 2; n++) {
		struct gate *at = gate();
		pid_t pid;

		fail_beneath_mtag();
		pid = shares(at, n);
		until(fail_count() > 0 || atomic_load(&at->step), 30);
		sh("mtagctl untrack %d", pid);
		pass_gate(at, 1);
		delayed_now = fail_disarm(NULL);
		delays += delayed_now;
		missed = delayed_now ? 0 : missed + 1;
		bad += !both_right(pid, at->step, n);
		kill(at->step, SIGKILL);
		end_child(pid);
		must(munmap(at, PG));
	}
	ok(delays > 2, "a fork while it is untracked: delayed at %d places", delays);
	ok(health("repairs") < (uint64_t)n,
	   "a fork while it is untracked: no more is repaired than the child of each");
	is(bad, 0, "a fork while it is untracked: parent and child are counted exactly after that");
	end_child(keeper);
	ok(until((visit_cpus(), !health("tracked")), 30),
	   "a fork while it is untracked: nobody stays tracked");
}

int main(void)
{
	need_root();
	fail_begin();
	must0(spew(FAIL_DIR "stall", "%d", STALL_MS));
	must0(spew(FAIL_DIR "harmless", "1"));
	delay_each(forks, true, "a fork while the module goes");
	delay_each(execs, true, "an exec while the module goes");
	delay_each(forks, false, "a fork while the hooks go out");
	delay_each(execs, false, "an exec while the hooks go out");
	untrack_each();
	in_child {
		begin();
		exact("the module counts exactly after that");
	}
	fail_end();
	return done();
}
