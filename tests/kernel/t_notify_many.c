// SPDX-License-Identifier: GPL-2.0
/*
 * Many limits that end at once: the tags of a process are compared once for all of them, and not once for each. The
 * kernel counts how often, by a probe.
 */
/* vm: group=apart mem=1G timeout=100 */
#include <sys/eventfd.h>
#include "lib/test.h"

#define LIMITS	64
#define TRACING "/sys/kernel/tracing/"
#define LOOKS	"mtag_account_look_at_limits"

/* How often the probe was hit. */
static uint64_t looks(void)
{
	char *text = slurp(TRACING "kprobe_profile"), *line = text ? strstr(text, "looks ") : NULL;

	if (!line)
		bail("no probe");
	return strtoull(line + strlen("looks "), NULL, 10);
}

static void end_at_once(void)
{
	int fd = must(eventfd(0, EFD_CLOEXEC));
	uint64_t before, after;
	char name[16];

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
	after = looks();
	ok(after - before < LIMITS / 2,
	   "the tags are compared %" PRIu64 " times for %d limits that end", after - before,
	   LIMITS);
	ok(until(!mtag_notify(tag("tag 0"), UINT64_C(1) << 32, fd), 30),
	   "and their places are free");
	close(fd);
}

int main(void)
{
	begin_test();
	if (sh("mountpoint -q " TRACING " || mount -t tracefs none " TRACING) ||
	    spew(TRACING "kprobe_events", "p:mtag_test/looks " LOOKS))
		skip_all("no probes");
	must0(spew(TRACING "events/mtag_test/looks/enable", "1"));
	in_child
		end_at_once();
	must0(spew(TRACING "events/mtag_test/looks/enable", "0"));
	must0(spew(TRACING "kprobe_events", "-:mtag_test/looks"));
	return end_test();
}
