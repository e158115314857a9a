// SPDX-License-Identifier: GPL-2.0
/* Fills in the line of a check. */
#include <stdarg.h>
#include <stdio.h>

#include "doctor/check.h"

void check_set(struct check *check, enum check_status status, const char *advice,
	       const char *format, ...)
{
	va_list args;

	check->status = status;
	check->advice = advice;
	va_start(args, format);
	vsnprintf(check->detail, sizeof(check->detail), format, args);
	va_end(args);
}
