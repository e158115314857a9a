/* SPDX-License-Identifier: GPL-2.0 */
/* A profile as pprof reads it. */
#ifndef MTAGCTL_FORMAT_PPROF_H
#define MTAGCTL_FORMAT_PPROF_H

#include "format/fmt.h"
#include "model.h"

/* Prints a binary file. 0 or -ENOMEM. */
int pprof_print(const struct fmt *fmt, const struct snap *snap);

#endif
