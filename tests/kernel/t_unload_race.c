// SPDX-License-Identifier: GPL-2.0
/*
 * The module goes, or its hooks do, while a fork or an exec of a tracked process is delayed at each place (each second,
 * without --long) at which the module allocates for it: nothing is published any more then, and nothing is left. What
 * uses freed memory is seen on the kernels of our own.
 */
/* vm: group=unload mem=1G timeout=900 module=linger_ms=1 */
#include "lib/test.h"
#include "lib/fail.h"

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

	/* Until there are no more allocations. */
	for (int n = 1; missed < 2; n += getenv("MTAG_LONG") ? 1 : 2) {
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
	in_child {
		begin();
		exact("the module counts exactly after that");
	}
	fail_end();
	return done();
}
