/* SPDX-License-Identifier: GPL-2.0 */
/* symbol.h from a process of its own: a file that it cannot digest costs the names of that file only. */
#ifndef MTAGCTL_STACKS_GUARD_H
#define MTAGCTL_STACKS_GUARD_H

#include "stacks/symbol.h"

struct guard;
struct progress;

/*
 * As the functions of symbol.h. Files are opened with the rights of @owner, who the process was of before anything was
 * read of it; with those of who it is of now, if @owner is root.
 */
struct guard *guard_open(pid_t pid, const struct trace_owner *owner);
void guard_close(struct guard *guard);
/* Shows @progress while it waits for an answer. */
void guard_tell(struct guard *guard, struct progress *progress);
static inline void guard_closep(struct guard **guard)
{
	guard_close(*guard);
}
/* The build-id of an image's file, if what it says lasts: how many bytes, else 0. */
size_t guard_build_id(struct guard *guard, const struct trace_image *image,
		      uint8_t id[TRACE_BUILD_ID_MOST]);
size_t guard_find(struct guard *guard, const struct trace_image *image, uint64_t offset, bool exact,
		  struct symbol found[SYMBOL_INLINES_MOST]);
/* As symbols_address(), of the place where guard_find() has found nothing just now. */
uint64_t guard_address(const struct guard *guard);

#endif
