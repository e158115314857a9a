/* SPDX-License-Identifier: GPL-2.0 */
/* Folded stacks, as flamegraph.pl, inferno and speedscope read them. */
#ifndef MTAGCTL_FORMAT_FOLDED_H
#define MTAGCTL_FORMAT_FOLDED_H

#include "format/fmt.h"
#include "model.h"

/* A line "process;tag;part BYTES" for each part of each tag that is not 0. 0 or -ENOMEM. */
int folded_print(const struct fmt *fmt, const struct snap *snap);

#endif
