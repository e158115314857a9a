/* SPDX-License-Identifier: GPL-2.0 */
/* What doctor prints: each check, how it went, and what to do about it. */
#ifndef MTAGCTL_FORMAT_DOCTOR_H
#define MTAGCTL_FORMAT_DOCTOR_H

#include "format/fmt.h"

enum check_status { CHECK_OK, CHECK_WARN, CHECK_FAIL };

struct check {
	const char *name;
	enum check_status status;
	char detail[256];
	const char *advice; /* what to do, or NULL */
};

void doctor_text(const struct fmt *fmt, const struct check *checks, size_t n);
/* 0 or -ENOMEM. */
int doctor_json(const struct fmt *fmt, const struct check *checks, size_t n);

#endif
