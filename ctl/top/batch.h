/* SPDX-License-Identifier: GPL-2.0 */
/* What top prints where there is no terminal: one table, or one line of JSON. */
#ifndef MTAGCTL_TOP_BATCH_H
#define MTAGCTL_TOP_BATCH_H

#include "format/fmt.h"
#include "top/rows.h"

/* All rows are listed. */
/* How many to print, 0 for no end: @count if it was given, else one unless somebody watches JSON on a terminal. */
unsigned long batch_count(const struct fmt *fmt, bool json, unsigned long count);
void batch_text(const struct fmt *fmt, const struct rows *rows);
/*
 * An array of the pairs, or grouped, of the tags of all or of each group. @time_ms is 0 where it is
 * not known. 0 or -ENOMEM.
 */
int batch_json(const struct fmt *fmt, const struct rows *rows, uint64_t time_ms);

#endif
