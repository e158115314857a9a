/* SPDX-License-Identifier: GPL-2.0 */
/* The unwind table of a file: linux/mtag_unwind.h says what it is. */
#ifndef MTAGCTL_UNWIND_TABLE_H
#define MTAGCTL_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "unwind/image.h"

/**
 * struct table - an unwind table
 * @data:	its bytes: the caller frees them
 * @size:	how many
 */
struct table {
	void *data;
	size_t size;
};

/*
 * Compiles the table of @image. Returns 0 or a negative errno: -ENODATA, the file has no information
 * about frames; -E2BIG, it is too large for a table, or takes too long; -ENOMEM.
 */
int table_make(const struct image *image, struct table *table);
/*
 * Whether @table, of whatever contents, can be that of @image: it has the right size, covers its text, and is
 * named by its build-id. What its rows say is checked by the kernel.
 */
bool table_fits(const struct table *table, const struct image *image);

#endif
