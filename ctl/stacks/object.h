/* SPDX-License-Identifier: GPL-2.0 */
/* An ELF file that a process has mapped, opened for elfutils. */
#ifndef MTAGCTL_STACKS_OBJECT_H
#define MTAGCTL_STACKS_OBJECT_H

#include <elfutils/libdwfl.h>

#include "stacks/trace.h"

/* Initially all 0. */
struct object {
	int fd; /* until it is read; -1: there is none, or elfutils has it */
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: the file is gone, another one, or no ELF file */
	bool trusted;	     /* only we and root can have written it */
};

/* The file is looked up below @root. Nothing in it is looked at yet. */
void object_open(struct object *object, int root, const struct trace_image *image);
/* Reads it, the first time. Debug information may be in a file of its own. */
void object_read(struct object *object, const struct trace_image *image);
/* The build-id of a file that was read: how many bytes; 0 if it has none. */
size_t object_build_id(const struct object *object, uint8_t id[TRACE_BUILD_ID_MOST]);
void object_close(struct object *object);
/* The address of a place in the file as elfutils counts it. Returns false if it is in no segment. */
bool object_address(const struct object *object, uint64_t offset, GElf_Addr *address);

#endif
