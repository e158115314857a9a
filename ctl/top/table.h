/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of top as text: which columns there are, where they stand, and the lines of head and
 * rows.
 */
#ifndef MTAGCTL_TOP_TABLE_H
#define MTAGCTL_TOP_TABLE_H

#include "format/fmt.h"
#include "top/rows.h"

/**
 * struct table - where things stand in a line
 * @first:	width of the first column, which has the names of all rows but the deepest
 * @at:		where a column of numbers begins, by enum rows_sort
 * @width:	its width, 0 if there is no room for it
 * @last:	where the last column begins: the deepest rows' names, or the largest of a closed
 *		row
 * @pid_width:	of the longest process id
 * @kib:	numbers are in KiB, not rounded
 * @marks:	rows say whether they are open
 */
struct table {
	unsigned int first;
	unsigned int at[SORT_N];
	unsigned int width[SORT_N];
	unsigned int last;
	int pid_width;
	bool kib;
	bool marks;
};

void table_layout(struct table *table, const struct fmt *fmt, const struct rows *rows, bool kib);

/* These print a line without its end, of at most fmt->width columns. */
void table_head(const struct table *table, const struct fmt *fmt, enum rows_by by);
void table_row(const struct table *table, const struct fmt *fmt, const struct rows *rows,
	       const struct row *row);
void table_total(const struct table *table, const struct fmt *fmt, const struct rows *rows);

/* The heading of a column, as in the head and where it is mentioned. */
const char *table_heading(const struct fmt *fmt, enum rows_sort sort);
/* Where a column's heading and numbers stand. Returns false if it is not shown. */
bool table_span(const struct table *table, enum rows_by by, enum rows_sort sort, unsigned int *at,
		unsigned int *width);
/* A number of a row as it stands in the table. */
const char *table_number(const struct table *table, const struct rows *rows, const struct row *row,
			 enum rows_sort sort, char buf[32]);

#endif
