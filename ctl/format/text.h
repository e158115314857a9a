/* SPDX-License-Identifier: GPL-2.0 */
/* Cells of a table: sizes, counts, and names that may hold anything. */
#ifndef MTAGCTL_TEXT_H
#define MTAGCTL_TEXT_H

#include <stdint.h>

#include "format/fmt.h"

#define COL_SIZE  9 /* columns of a cell, with a blank before it */
#define COL_DELTA 10

/* "12.5MiB", at most 8 columns. */
const char *text_size(char buf[16], uint64_t bytes);
/* "+12.5MiB", "-4.0KiB", "0". */
const char *text_delta(char buf[16], uint64_t now, uint64_t before);
/* "12.5M" or "125M", at most 5 columns, and "+12.5M" or "-12.5M". */
const char *text_brief(char buf[16], uint64_t bytes);
const char *text_brief_change(char buf[16], int64_t bytes);
/* At most 8 columns; very large numbers are rounded. */
const char *text_count(char buf[24], uint64_t n);
const char *text_percent(char buf[16], uint64_t part, uint64_t whole);

/* Prints @name, cleaned, in exactly @width columns. A long name loses its beginning or its end. */
enum cut { CUT_BEGINNING, CUT_END };
void text_cell(const struct fmt *fmt, const char *name, unsigned int width, enum cut cut);
/* Likewise in at most @most columns, and ends the line: the last cell has no blanks behind it. */
void text_last(const struct fmt *fmt, const char *name, unsigned int most, enum cut cut);
/* Like printf("%*s", …), but counts columns. */
void text_right(const struct fmt *fmt, int width, const char *text);

#endif
