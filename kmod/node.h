/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nodes of the trees of tags, and their memory; node.c.
 */
#ifndef MTAG_NODE_H
#define MTAG_NODE_H

#include <linux/gfp_types.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/**
 * struct mtag_node - a tag
 * @hash:	in the hash table of all trees, by (tree, parent, name)
 * @born:	tree->nr_named when it was created
 * @tree_id:	of its tree
 * @uid:	effective uid of the task that created it
 * @id:		its index in tree->nodes
 * @parent:	id; 0 for a first-level tag
 * @depth:	components of its path
 * @kept:	a program asked for it by name or was told its number, or it has tags below: it is
 *		never used for another thread; never cleared. Set under tree->lock
 * @len:	bytes of @name, without the NUL
 * @name:	NUL-terminated component, with zeros up to a multiple of 8 bytes at least
 *
 * It enters and leaves the hash under tree->lock, while the tree is in use. All except @hash and
 * @kept is constant from then on. Readers have RCU or tree->lock.
 */
struct mtag_node {
	struct rhash_head hash;
	u64 born;
	u32 tree_id;
	kuid_t uid;
	u16 id;
	u16 parent;
	u8 depth;
	u8 len;
	bool kept;
	char name[];
};

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
