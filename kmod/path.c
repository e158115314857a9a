// SPDX-License-Identifier: GPL-2.0
/*
 * Paths of tags: written out, and found or created in another tree.
 */
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "mtag.h"
#include "path.h"
#include "state.h"
#include "tree.h"

/* The ids on the path of @tag, the last component first. Returns their number. */
static int path_ids(struct mtag_tree *tree, u32 tag, u16 ids[MTAG_DEPTH_MAX])
{
	struct mtag_node *node;
	int depth = 0;

	rcu_read_lock();
	for (; depth < MTAG_DEPTH_MAX && (node = mtag_tree_node(tree, tag)); tag = node->parent)
		ids[depth++] = tag;
	rcu_read_unlock();
	return depth;
}

/* Copies a tag's name, which may change at any time. Returns its length. */
static size_t copy_name(struct mtag_tree *tree, u32 tag, char name[MTAG_NAME_MAX + 1])
{
	struct mtag_node *node;
	size_t len;

	rcu_read_lock();
	node = mtag_tree_node(tree, tag);
	len = node->len;
	memcpy(name, node->name, len + 1);
	rcu_read_unlock();
	return len;
}

/**
 * mtag_path_copy() - find or create a tag of @from in the tree of @to
 * @to:		space
 * @from:	tree; the caller holds a reference
 * @tag:	id in @from; an unknown or reserved one becomes untagged
 * @gfp:	allows blocking if the caller may sleep
 *
 * Return: id in the tree of @to, or an error as mtag_tree_make().
 */
int mtag_path_copy(struct mtag_space *to, struct mtag_tree *from, u32 tag, gfp_t gfp)
{
	int depth, ret = MTAG_ID_UNTAGGED;
	char name[MTAG_NAME_MAX + 1];
	u16 ids[MTAG_DEPTH_MAX];
	size_t len;

	for (depth = path_ids(from, tag, ids); depth && ret >= 0; depth--) {
		len = copy_name(from, ids[depth - 1], name);
		ret = mtag_tree_make(to, ret, name, len, gfp);
	}
	return ret;
}

/**
 * mtag_path_write() - write the path of @tag
 * @tree:	the caller holds a reference
 * @tag:	id
 * @buf:	@len bytes; NULL to ask for the size
 * @len:	bytes at @buf
 *
 * Return: size of the path with its NUL; nothing is written if it exceeds @len.
 * -ENOENT if there is no such tag.
 */
int mtag_path_write(struct mtag_tree *tree, u32 tag, char *buf, size_t len)
{
	struct mtag_node *nodes[MTAG_DEPTH_MAX], *node;
	size_t need = 0;
	int depth = 0;

	if (tag == MTAG_ID_KSM) {
		if (buf && len >= sizeof("[ksm]"))
			strcpy(buf, "[ksm]");
		return sizeof("[ksm]");
	}
	if (!mtag_tree_has(tree, tag))
		return -ENOENT;
	/* A tag that is renamed gets another node: these nodes stay as they are. */
	rcu_read_lock();
	for (; depth < MTAG_DEPTH_MAX && (node = mtag_tree_node(tree, tag)); tag = node->parent) {
		nodes[depth++] = node;
		need += node->len + 1;
	}
	need = need ?: 1;
	if (buf && need <= len) {
		*buf = '\0';
		while (depth--) {
			node = nodes[depth];
			memcpy(buf, node->name, node->len);
			buf += node->len;
			*buf++ = depth ? '/' : '\0';
		}
	}
	rcu_read_unlock();
	return need;
}
