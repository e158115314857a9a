/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tree of tag names; tree.c.
 */
#ifndef MTAG_TREE_H
#define MTAG_TREE_H

#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>
#include "node.h"
#include "state.h"

/*
 * Marks of tree->nodes: a sweep began, and no thread got the tag since; the tag's thread has ended;
 * the tag may be used for another; sweep.c
 */
#define MTAG_NODE_SWEPT	XA_MARK_0
#define MTAG_NODE_ENDED	XA_MARK_1
#define MTAG_NODE_FREE	XA_MARK_2

int mtag_tree_init(void);
void mtag_tree_exit(void);
struct mtag_tree *mtag_tree_create(gfp_t gfp);
struct mtag_tree *mtag_tree_get(struct mtag_tree *tree);
void mtag_tree_put(struct mtag_tree *tree);
int mtag_tree_intern(struct mtag_space *s, u32 parent, const char *name, size_t len);
int mtag_tree_make(struct mtag_space *s, u32 parent, const char *name, size_t len, gfp_t gfp);
bool mtag_tree_lock(struct mtag_tree *tree, gfp_t gfp);
int mtag_tree_join(struct mtag_space *s, gfp_t gfp);
void mtag_tree_leave(struct mtag_space *s);
bool mtag_tree_has(struct mtag_tree *tree, u32 tag);
bool mtag_tree_sees_node(struct mtag_space *s, const struct mtag_node *node, kuid_t uid);
bool mtag_tree_sees(struct mtag_space *s, u32 tag, kuid_t uid);

/*
 * NULL for reserved and unknown ids. Context: RCU or tree->lock; the node of a tag that is renamed
 * is replaced.
 */
struct mtag_node *mtag_tree_node(struct mtag_tree *tree, u32 tag);

/*
 * The node of @tag, or NULL. For iteration: moving to the next tag is one step. Context: RCU read
 * side; @xas is of the tree's nodes.
 */
static inline struct mtag_node *mtag_tree_step(struct xa_state *xas, u32 tag)
{
	struct mtag_node *node;

	do {
		if (xas->xa_index + 1 == tag) {
			node = xas_next(xas);
		} else {
			xas_set(xas, tag);
			node = xas_load(xas);
		}
	} while (xas_retry(xas, node));
	return node;
}

/* Context of all: tree->lock. */
struct mtag_node *mtag_tree_find(struct mtag_tree *tree, u32 parent, const char *name, size_t len);
struct mtag_node *mtag_tree_replace(struct mtag_tree *tree, struct mtag_node *old, u32 parent,
				    const char *name, size_t len, gfp_t gfp);
int mtag_tree_rename(struct mtag_tree *tree, struct mtag_node *old, const char *name, size_t len,
		     gfp_t gfp);
void mtag_tree_know(struct mtag_space *s, u32 tag);

#endif /* MTAG_TREE_H */
