/* SPDX-License-Identifier: GPL-2.0 */
/* Unwind tables by build-id, kept in ${XDG_CACHE_HOME:-~/.cache}/mtag-unwind. */
#ifndef MTAGCTL_UNWIND_CACHE_H
#define MTAGCTL_UNWIND_CACHE_H

#include <stdint.h>
#include <sys/types.h>

#include "unwind/table.h"

/*
 * The table of an image of a file that is trusted: from the cache, else compiled, and kept there if
 * it can be. A file without a build-id is compiled each time. Returns 0, or as table_make().
 */
int cache_table(const struct image *image, struct table *table);
/*
 * That of the file @fd, which others can write to: they could give it the build-id of another file,
 * and so lie about that one, so it is compiled each time. All of it is read by a process that root
 * gives that user's rights, for at most *@patience milliseconds, which become less by what it took.
 * Returns likewise; or -ENOEXEC, it is no ELF file of x86-64 with code; -ETIME, no patience was
 * left.
 */
int cache_untrusted(int fd, uid_t uid, gid_t gid, uint64_t *patience, struct table *table);

#endif
