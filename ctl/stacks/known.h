/* SPDX-License-Identifier: GPL-2.0 */
/* Functions at addresses that were looked up before, by build-id, kept in ${XDG_CACHE_HOME:-~/.cache}/mtag-symbols. */
#ifndef MTAGCTL_STACKS_KNOWN_H
#define MTAGCTL_STACKS_KNOWN_H

#include "stacks/symbol.h"

struct known;

/* Of images of one call of mtagctl. NULL without memory. */
struct known *known_open(void);
/* Keeps what was added. */
void known_close(struct known *known);
static inline void known_closep(struct known **known)
{
	known_close(*known);
}

/* As symbols_find(). Returns none for an address that nothing is known of. */
size_t known_find(struct known *known, const struct trace_image *image, uint64_t offset, bool exact,
		  struct symbol found[SYMBOL_INLINES_MOST]);

/* Takes a copy of what symbols_find() has found, if it is lasting. */
void known_add(struct known *known, const struct trace_image *image, uint64_t offset, bool exact,
	       const struct symbol *found, size_t n);

#endif
