// SPDX-License-Identifier: GPL-2.0
/*
 * Many limits that end at once: the tags of a process are compared once for all of them, and not once for each. Probes of
 * the kernel tell how often.
 */
/* vm: group=apart mem=1G timeout=100 */
#include <sys/eventfd.h>
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

int main(void)
{
	begin_test();
	if (sh("mountpoint -q " TRACING " || mount -t tracefs none " TRACING) ||
	    spew(TRACING "kprobe_events", "%s", PROBES))
		skip_all("no probes");
	must0(spew(TRACING "events/mtag_test/enable", "1"));
	in_child
		end_at_once();
	must0(spew(TRACING "events/mtag_test/enable", "0"));
	must0(spew(TRACING "kprobe_events", "-:mtag_test/looks\n-:mtag_test/limit"));
	return end_test();
}
