/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_USAGE_H
#define MTAG_LIB_HEAP_USAGE_H

#include "area.h"

/*
 * What was done under a tag in this process, as struct mtag_heap_cell has it; include/compat finds
 * this by its name. Returns 0, or -ENOENT if nothing is counted. *@sum may grow at its end.
 */
int mtag_heap_usage(uint32_t tag, struct mtag_heap_cell *sum);

#endif
