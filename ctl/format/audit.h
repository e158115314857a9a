/* SPDX-License-Identifier: GPL-2.0 */
/* What audit prints: the kernel's numbers, the page tables' and the counters, side by side. */
#ifndef MTAGCTL_FORMAT_AUDIT_H
#define MTAGCTL_FORMAT_AUDIT_H

#include "format/fmt.h"
#include "model.h"

void audit_text(const struct fmt *fmt, const struct audit *audits, size_t n);
/* 0 or -ENOMEM. */
int audit_json(const struct fmt *fmt, const struct audit *audits, size_t n);

#endif
