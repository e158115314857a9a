// SPDX-License-Identifier: GPL-2.0
/*
 * How a test begins and ends; what includes this has all that most tests need.
 *
 * The rule of every measurement: the tag under test is current only while its pages are touched; what
 * reads the truth runs untagged, and reads it again afterwards, so that nothing moved meanwhile.
 */
#include "test.h"

static uint64_t drift_at_start;
static pid_t tracked; /* the process that called begin() */

void need_root(void)
{
	if (geteuid())
		skip_all("needs root");
}

void no_drift(uint64_t drift_before)
{
	is(health("drift"), drift_before, "every process that ended left all its counters at 0");
}

void begin_test(void)
{
	need_root();
	drift_at_start = health("drift");
}

void begin(void)
{
	int error = mtag_init();

	tracked = getpid();
	if (error)
		bail("mtag_init: %s", strerror(-error));
	mtag_leave(mtag_enter(MTAG_UNTAGGED));
	if (mtag_fd() < 0)
		bail("open %s", MTAG_DEVICE);
	prefault_stack();
	touch(MTAG_UNTAGGED, area(PG), PG);
	flush_rss();
	smaps(NULL, 0);
	usage_sum();
}

int end_test(void)
{
	struct audit a;

	if (tracked == getpid()) {
		clean(getpid(), "audit agrees");
		/* Once a test by the program that users have. */
		a = audit_by_mtagctl(getpid());
		ok(a.rows == 1 && !a.drift && !a.lost, "so says mtagctl");
	}
	no_drift(drift_at_start);
	return done();
}
