/* SPDX-License-Identifier: GPL-2.0 */
/* Metrics for Prometheus. */
#ifndef MTAGCTL_FORMAT_OPENMETRICS_H
#define MTAGCTL_FORMAT_OPENMETRICS_H

#include "format/fmt.h"
#include "model.h"

/* 0 or -ENOMEM. */
int openmetrics_print(const struct fmt *fmt, const struct snap *snap);

#endif
