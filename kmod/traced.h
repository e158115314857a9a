/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The caller of a function whose end is traced; traced.c.
 */
#ifndef MTAG_TRACED_H
#define MTAG_TRACED_H

#include <linux/types.h>

void mtag_traced_init(void);
bool mtag_traced_is(unsigned long ip);
unsigned long mtag_traced_undo(unsigned long ip);

#endif /* MTAG_TRACED_H */
