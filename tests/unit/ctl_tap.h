/* SPDX-License-Identifier: GPL-2.0 */
/* TAP for the tests of mtagctl's inner parts. */
#ifndef CTL_TAP_H
#define CTL_TAP_H

#include <stdarg.h>
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

/* What main.c has for the rest of mtagctl. */
void ctl_error(const char *format, ...);
void ctl_error(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	fputc('\n', stdout);
}

#endif
