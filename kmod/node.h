/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of tags' nodes; node.c.
 */
#ifndef MTAG_NODE_H
#define MTAG_NODE_H

#include <linux/gfp_types.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct mtag_node;
struct mtag_tree;

/* Frees a node that others may still see: allocated before the node is replaced. */
struct mtag_old_node {
	struct rcu_head rcu;
	struct mtag_node *node;
};

int mtag_node_init(void);
void mtag_node_exit(void);
struct mtag_node *mtag_node_alloc(struct mtag_tree *tree, size_t len, gfp_t gfp);
void mtag_node_free(struct mtag_node *node);
void mtag_node_drop(struct mtag_tree *tree, struct mtag_node *node);
void mtag_node_retire(struct mtag_tree *tree, struct mtag_node *node, struct mtag_old_node *old);
void mtag_node_uncharge_all(struct mtag_tree *tree);

#endif /* MTAG_NODE_H */
