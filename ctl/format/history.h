/* SPDX-License-Identifier: GPL-2.0 */
/* What history prints: ended processes, how they ended, and their largest tags. */
#ifndef MTAGCTL_FORMAT_HISTORY_H
#define MTAGCTL_FORMAT_HISTORY_H

#include "format/fmt.h"
#include "past.h"

/* @pasts: pointers to the @n processes to print, in the order of printing. */
void history_text(const struct fmt *fmt, const struct past *const *pasts, size_t n);
/* 0 or -ENOMEM. */
int history_json(const struct fmt *fmt, const struct past *const *pasts, size_t n);

#endif
