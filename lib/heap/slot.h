/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_SLOT_H
#define MTAG_LIB_HEAP_SLOT_H

#include <stdbool.h>

/* Sees to it that a slot is given back when its thread ends. */
void mtag__slot_set_up(void);
void mtag__slot_tear_down(void);

/* Gives the calling thread the cells of a slot, unless it is at its end or none is free. Keeps errno. */
bool mtag__slot_take(void);

/* In a forked child: all slots but that of the calling thread are free. */
void mtag__slot_forked(void);

#endif
