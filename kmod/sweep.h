/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tags whose threads have ended; sweep.c.
 */
#ifndef MTAG_SWEEP_H
#define MTAG_SWEEP_H

#include <linux/types.h>

struct mtag_space;
struct mtag_tree;

void mtag_sweep_ended(struct mtag_space *s, u32 tag);
bool mtag_sweep_unmark(struct mtag_tree *tree, u32 tag);

#endif /* MTAG_SWEEP_H */
