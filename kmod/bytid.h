/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tags of single threads; bytid.c.
 */
#ifndef MTAG_BYTID_H
#define MTAG_BYTID_H

#include <linux/gfp_types.h>
#include <linux/types.h>

struct mtag_space;
struct mtag_tree;
struct task_struct;

int mtag_bytid_make(struct mtag_space *s, struct task_struct *task, gfp_t gfp);
void mtag_bytid_keep(struct mtag_tree *tree, u32 tag);
void mtag_bytid_named(struct mtag_space *s, struct task_struct *task);
u32 mtag_bytid_take(const struct task_struct *task, struct mtag_space **s);

#endif /* MTAG_BYTID_H */
