/* SPDX-License-Identifier: GPL-2.0 */
/* Has libmtag-heap.so preloaded into the program that this one becomes. */
#ifndef MTAGCTL_HEAPS_PRELOAD_H
#define MTAGCTL_HEAPS_PRELOAD_H

#include <stdbool.h>

/*
 * Sets the environment so that @command will keep a heap view; if it is linked statically, which rules that out, says
 * so. An exit status.
 */
int heap_preload(const char *command, bool exact);

#endif
