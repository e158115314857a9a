/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_FIGURES_H
#define MTAG_LIB_HEAP_FIGURES_H

#include <stdint.h>

#include "next.h"

/* Looks for what the allocator can be asked by. */
void mtag__figures_find(enum mtag__allocator kind);

/*
 * So many bytes have come or gone. Asks the allocator if the last answer is a second old, or an eighth
 * of what was in use has moved since; for at most a thousandth of the time. The caller holds none of
 * its locks.
 */
void mtag__figures_tick(uint64_t bytes);

/* In a forked child: the thread that was asking is not there. */
void mtag__figures_forked(void);

#endif
