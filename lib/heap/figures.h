/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_FIGURES_H
#define MTAG_LIB_HEAP_FIGURES_H

#include "next.h"

/* Looks for what the allocator can be asked by. */
void mtag__figures_find(enum mtag__allocator kind);

/*
 * Asks the allocator if the last answer is old enough: at most once a second, and for at most a
 * thousandth of the time. The caller holds none of its locks.
 */
void mtag__figures_tick(void);

/* In a forked child: the thread that was asking is not there. */
void mtag__figures_forked(void);

#endif
