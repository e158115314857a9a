/* SPDX-License-Identifier: GPL-2.0 */
/* TAP for the tests of mtagctl's inner parts. */
#ifndef CTL_TAP_H
#define CTL_TAP_H

#include <stdbool.h>
#include <stdio.h>

static int tap_run, tap_failed;

static inline bool ok(bool good, const char *name)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_run, name);
	tap_failed += !good;
	return good;
}

static inline int tap_end(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed != 0;
}

#endif
