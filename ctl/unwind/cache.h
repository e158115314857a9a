/* SPDX-License-Identifier: GPL-2.0 */
/* Unwind tables by build-id, kept in ${XDG_CACHE_HOME:-~/.cache}/mtag-unwind. */
#ifndef MTAGCTL_UNWIND_CACHE_H
#define MTAGCTL_UNWIND_CACHE_H

#include "unwind/table.h"

/*
 * The table of an image: from the cache, else compiled, and kept there if it can be. A file without a
 * build-id is compiled each time; so is one that is not @trusted: whoever can write to it could give it the build-id of
 * another file, and so lie about that one. Returns 0, or as table_make().
 */
int cache_table(const struct image *image, bool trusted, struct table *table);

#endif
