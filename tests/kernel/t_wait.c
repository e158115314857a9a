// SPDX-License-Identifier: GPL-2.0
/*
 * What waits for the module, and for how long: a process that attaches while the hooks go out can be killed, and
 * giving ranges to tags waits for nothing.
 */
/* vm: also=7.3-rt group=plain mem=2G timeout=900 module=linger_ms=1 */
#include "lib/test.h"
#include "lib/fail.h"
#include <linux/membarrier.h>
#include <sys/resource.h>

#define STALL_MS 40000
#define RANGES	 200
#define BUSY_CPU 1

static int attach(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg)};
	int fd = must(open(MTAG_DEVICE, O_RDONLY | O_CLOEXEC)), error;

	error = ioctl(fd, MTAG_IOC_ATTACH, &arg) ? -errno : 0;
	close(fd);
	return error;
}

static void run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	must(sched_setaffinity(0, sizeof(one), &one));
}

static bool has_ended(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) == pid;
}

/* Does it wait to be tracked? */
static bool waits(pid_t pid)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	text = slurp(path);
	return text && strstr(text, "mtag_track_start");
}

/* A tracked process that waits to be killed. */
static pid_t tracked(void)
{
	struct gate *g = gate();
	pid_t pid = child();

	if (!pid) {
		must0(attach());
		open_gate(g, 1);
		pause();
	}
	pass_gate(g, 1);
	return pid;
}

/* Keeps a CPU in the kernel until stall becomes 0, and says so when that is over: no grace period ends meanwhile. */
static pid_t staller(struct gate *g)
{
	pid_t pid = child();

	if (!pid) {
		run_on(BUSY_CPU);
		open_gate(g, 1);
		pass_gate(g, 2);
		close(open("/dev/null", O_RDONLY));
		open_gate(g, 3);
		_exit(0);
	}
	/* Not before it is where it is to stay. */
	pass_gate(g, 1);
	must0(spew(FAIL_DIR "stall", "%d", STALL_MS));
	fail_beneath(0, 0);
	fail_arm(pid, 1);
	open_gate(g, 2);
	if (!until(fail_count() > 0, 30))
		bail("nothing keeps the hooks from going out");
	return pid;
}

/* Removing the hooks takes until nobody can be in them. */
static bool hooks_go_out(void)
{
	return until(!sh("grep -qs mtag_hook_remove /proc/[0-9]*/stack"), 15);
}

static void killed_while_it_waits(void)
{
	struct gate *g = gate();
	pid_t pid = tracked(), busy, who;
	int status = 0;

	busy = staller(g);
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0));
	ok(hooks_go_out(), "the hooks are going out");
	who = child();
	if (!who)
		_exit(attach() != 0);
	ok(until(waits(who), 5), "who attaches meanwhile waits");
	kill(who, SIGKILL);
	ok(until(has_ended(who, &status), 2) && WIFSIGNALED(status), "and can be killed");
	ok(atomic_load(&g->step) < 3, "before the hooks are out");
	must0(spew(FAIL_DIR "stall", "0"));
	reap(busy);
	if (!WIFSIGNALED(status))
		until(has_ended(who, &status), 30);
	fail_disarm(NULL);
	ok(until(!health("installed"), 30), "they are out in the end");
}

static long times_waited(void)
{
	struct rusage r;

	must(getrusage(RUSAGE_THREAD, &r));
	return r.ru_nvcsw;
}

/* A grace period is always waited for: then another task runs. */
static void ranges_wait_for_nothing(void)
{
	char *p = area(RANGES * PG);
	mtag_t a = tag("a");
	long before, waited;
	int failed = 0;

	touch(MTAG_UNTAGGED, p, RANGES * PG);
	before = times_waited();
	must(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0));
	ok(times_waited() > before, "a grace period is seen");
	before = times_waited();
	for (int i = 0; i < RANGES; i++) {
		struct mtag_ioc_range arg = {.size = sizeof(arg),
					     .addr = (uintptr_t)p + i * PG,
					     .len = PG,
					     .tag = a,
					     .flags = i % 2 ? MTAG_RANGE_PRESENT : 0};

		failed += mtag_ioctl(MTAG_IOC_RANGE, &arg) != 0;
	}
	waited = times_waited() - before;
	is(failed, 0, "%d ranges are given to a tag", RANGES);
	/* Another task may have a lock for a moment. */
	ok(waited < RANGES / 10, "and that waits for nothing (%ld times)", waited);
	is(anon_of(a), RANGES / 2 * PG, "what was to move has moved");
	exact("exact");
}

int main(void)
{
	uint64_t drift;

	need_root();
	drift = health("drift");
	run_on(!BUSY_CPU);
	fail_begin();
	must0(spew(FAIL_DIR "harmless", "1"));
	killed_while_it_waits();
	fail_end();
	in_child {
		begin();
		ranges_wait_for_nothing();
	}
	no_drift(drift);
	return done();
}
