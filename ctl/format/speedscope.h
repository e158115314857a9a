/* SPDX-License-Identifier: GPL-2.0 */
/* A file for speedscope. */
#ifndef MTAGCTL_FORMAT_SPEEDSCOPE_H
#define MTAGCTL_FORMAT_SPEEDSCOPE_H

#include "format/fmt.h"
#include "model.h"

/* 0 or -ENOMEM. */
int speedscope_print(const struct fmt *fmt, const struct snap *snap);

#endif
