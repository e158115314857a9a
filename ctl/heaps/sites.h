/* SPDX-License-Identifier: GPL-2.0 */
/* The heap by call stack: what is alive of what each stack has allocated, beneath each tag. */
#ifndef MTAGCTL_HEAPS_SITES_H
#define MTAGCTL_HEAPS_SITES_H

#include "heaps/objects.h"
#include "stacks/trace.h"

/*
 * Adds to @traces, which have the stacks that the process knows by number, those that have allocated what is alive, as
 * traces without pages: only objects that were allocated at least @older seconds ago. Read @objects first, or new ones
 * are of unknown stacks. 0 or -ENOMEM.
 */
int heap_sites_add(const struct heap_objects *objects, uint32_t older, struct traces *traces);

/* Was any object's stack taken? */
bool heap_sites_known(const struct heap_objects *objects);

#endif
