/* SPDX-License-Identifier: GPL-2.0 */
/* What a check of mtagctl doctor is: it looks at the host and fills in one line. */
#ifndef MTAGCTL_CHECK_H
#define MTAGCTL_CHECK_H

#include "format/doctor.h"

struct host;

typedef void check_run(const struct host *host, struct check *check);

/* @advice is shown unless @status is CHECK_OK. */
void check_set(struct check *check, enum check_status status, const char *advice,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
