/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paths of tags; path.c.
 */
#ifndef MTAG_PATH_H
#define MTAG_PATH_H

#include <linux/gfp_types.h>
#include <linux/types.h>

struct mtag_space;
struct mtag_tree;

int mtag_path_copy(struct mtag_space *to, struct mtag_tree *from, u32 tag, gfp_t gfp);
int mtag_path_write(struct mtag_tree *tree, u32 tag, char *buf, size_t len);

#endif /* MTAG_PATH_H */
