// SPDX-License-Identifier: GPL-2.0
/*
 * What keeps an mm after its last process has ended, and how to make it let go: a test that waits until mtag has
 * forgotten ended processes would otherwise wait until an idle CPU gets something to do. Also a child beyond the
 * limit of processes, which depends on that.
 */
#include "keepers.h"

void set_limit(const char *name, uint64_t value)
{
	char path[128];

	snprintf(path, sizeof(path), PARAMETER("%s"), name);
	must0(spew(path, "%" PRIu64, value));
}

void visit_cpus(void)
{
	cpu_set_t all, one;

	must(sched_getaffinity(0, sizeof(all), &all));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		must(sched_setaffinity(0, sizeof(one), &one));
	}
	must(sched_setaffinity(0, sizeof(all), &all));
}

bool idle(void)
{
	uint64_t linger = strtoull(slurp(PARAMETER("linger_ms")), NULL, 10);
	uint64_t memory;
	bool is_idle;

	/* The hooks go that long after the last process has ended: let one end now. */
	must0(spew(PARAMETER("linger_ms"), "50"));
	if (!until((visit_cpus(), !health("tracked")), 120))
		diag("%" PRIu64 " processes are tracked", health("tracked"));
	sh("mtagctl run /bin/true");
	is_idle = until((visit_cpus(), !health("tracked")) && !health("installed"), 60);
	/* Memory that the hooks may still use is freed after they are gone, grace periods and a worker later. */
	do {
		memory = health("memory");
		for (int i = 0; i < 3; i++)
			must(syscall(SYS_membarrier, 1 /* GLOBAL */, 0, 0));
		usleep(100000);
	} while (health("memory") != memory);
	must0(spew(PARAMETER("linger_ms"), "%" PRIu64, linger));
	return is_idle;
}

pid_t stray(void)
{
	const char *limit = "/sys/module/mtag/parameters/max_processes";
	uint64_t refused = health("overflow");
	pid_t pid;

	must0(spew(limit, "%" PRIu64, health("tracked")));
	pid = child();
	if (pid) {
		must0(spew(limit, "32768"));
		is(health("overflow") - refused, 1, "a child is one too many");
	}
	return pid;
}

void khugepaged_goes_on(void)
{
	spew("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "50");
}
