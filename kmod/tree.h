/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tree of tag names; tree.c.
 */
#ifndef MTAG_TREE_H
#define MTAG_TREE_H

#include <linux/rcupdate.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include "state.h"

/**
 * struct mtag_node - a tag
 * @hash:	in the hash table of all trees, by (tree, parent, name)
 * @tree:	not a reference: a tree outlives its tags
 * @rcu:	frees it
 * @uid:	effective uid of the task that created it
 * @id:		its index in tree->nodes
 * @parent:	id; 0 for a first-level tag
 * @depth:	components of its path
 * @len:	bytes of @name, without the NUL
 * @name:	NUL-terminated component
 */
struct mtag_node {
	struct rhash_head hash;
	struct mtag_tree *tree;
	struct rcu_head rcu;
	kuid_t uid;
	u16 id;
	u16 parent;
	u8 depth;
	u8 len;
	char name[];
};

int mtag_tree_init(void);
void mtag_tree_exit(void);
struct mtag_tree *mtag_tree_create(gfp_t gfp);
struct mtag_tree *mtag_tree_get(struct mtag_tree *tree);
void mtag_tree_put(struct mtag_tree *tree);
int mtag_tree_intern(struct mtag_space *s, u32 parent, const char *name, size_t len);
int mtag_tree_copy_path(struct mtag_space *to, struct mtag_tree *from, u32 tag, gfp_t gfp);
int mtag_tree_join(struct mtag_space *s, gfp_t gfp);
void mtag_tree_leave(struct mtag_space *s);
int mtag_tree_path(struct mtag_tree *tree, u32 tag, char *buf, size_t len);
bool mtag_tree_has(struct mtag_tree *tree, u32 tag);
bool mtag_tree_sees(struct mtag_space *s, u32 tag, kuid_t uid);
void mtag_tree_inherit(struct mtag_space *child, struct mtag_space *parent);

/* NULL for reserved and unknown ids. Caller holds rcu_read_lock() or a reference on @tree. */
struct mtag_node *mtag_tree_node(struct mtag_tree *tree, u32 tag);

#endif /* MTAG_TREE_H */
