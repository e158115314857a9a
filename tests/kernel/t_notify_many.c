// SPDX-License-Identifier: GPL-2.0
/*
 * Many limits that end at once: the tags of a process are compared once for all of them, and not once for each, which
 * probes of the kernel tell; and grace periods are waited for as rarely.
 */
/* vm: also=7.3-rt group=parallel mem=1G timeout=100 */
#include <sys/eventfd.h>
#include "lib/keepers.h"
#include "lib/test.h"

#define LIMITS	64
#define TRACING "/sys/kernel/tracing/"
#define PROBES                                                                                     \
	"p:mtag_test/looks mtag_account_look_at_limits s=%di\n"                                    \
	"p:mtag_test/limit mtag_limit_add s=%di"

/* The space that a line of the trace tells. */
static uint64_t space_of(const char *line)
{
	const char *at = line ? strstr(line, " s=0x") : NULL;

	if (!at)
		bail("no probe");
	return strtoull(at + strlen(" s="), NULL, 16);
}

/* How often the tags of this process were compared. Limits that tests before this one had may be ending yet. */
static int looks(void)
{
	const char *text = slurp(TRACING "trace"), *at = text;
	uint64_t own = space_of(strstr(text, " limit: "));
	int n = 0;

	while ((at = strstr(at, " looks: ")))
		n += space_of(at++) == own;
	return n;
}

static void end_at_once(void)
{
	int fd = must(eventfd(0, EFD_CLOEXEC));
	char name[16];
	int before, more;

	begin();
	for (int i = 0; i < LIMITS; i++) {
		snprintf(name, sizeof(name), "tag %d", i);
		must0(mtag_notify(tag(name), UINT64_C(1) << 32, fd));
	}
	before = looks();
	must(close(fd));
	/* The place of one is free again when all have gone. */
	fd = must(eventfd(0, EFD_CLOEXEC));
	ok(until(looks() > before, 30), "limits that end are noticed");
	usleep(300000);
	more = looks() - before;
	ok(more < LIMITS / 2, "the tags are compared %d times for %d limits that end", more,
	   LIMITS);
	ok(until(!mtag_notify(tag("tag 0"), UINT64_C(1) << 32, fd), 30),
	   "and their places are free");
	close(fd);
}

#define CROWD 400

/*
 * Processes that end together, each with a size set: the kernel's grace period, which has to pass before a size can
 * go, passes once for all of them and not once for each. membarrier(2) waits for one, which counts them however slow
 * the machine is. In series they would take 400; all at once they take a few, and half of that is allowed. What the
 * ends themselves take has passed before.
 */
static void crowd(void)
{
	int fd = must(eventfd(0, EFD_NONBLOCK));
	struct gate *g = gate();
	uint64_t live;
	pid_t pid[CROWD];
	double began;
	int periods = 0;

	until((visit_cpus(), health("tracked") == 1), 60);
	live = health("tracked");
	for (int i = 0; i < CROWD; i++) {
		pid[i] = child();
		if (pid[i])
			continue;
		must0(mtag_notify(MTAG_UNTAGGED, UINT64_C(1) << 40, fd));
		atomic_fetch_add(&g->step, 1);
		pause();
	}
	pass_gate(g, CROWD);
	began = now();
	for (int i = 0; i < CROWD; i++)
		must(kill(pid[i], SIGKILL));
	for (int i = 0; i < CROWD; i++)
		must(waitpid(pid[i], NULL, 0));
	diag("%d ends take %.3f s", CROWD, now() - began);
	while ((visit_cpus(), health("tracked")) > live && periods++ < CROWD / 2)
		must(syscall(SYS_membarrier, 1 /* GLOBAL */, 0, 0));
	is(health("tracked"), live,
	   "%d processes with sizes that end are gone at once: %d grace periods", CROWD, periods);
	close(fd);
}

int main(void)
{
	begin_test();
	if (sh("mountpoint -q " TRACING " || mount -t tracefs none " TRACING) ||
	    spew(TRACING "kprobe_events", "%s", PROBES))
		skip_all("no probes");
	must0(spew(TRACING "events/mtag_test/enable", "1"));
	in_child
		end_at_once();
	begin();
	crowd();
	must0(spew(TRACING "events/mtag_test/enable", "0"));
	must0(spew(TRACING "kprobe_events", "-:mtag_test/looks\n-:mtag_test/limit"));
	return end_test();
}
