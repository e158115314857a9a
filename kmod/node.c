// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates and charges the nodes of tags.
 *
 * Anybody may read the total of the module's memory, and must not learn from it how long a name of
 * another user is. So what is charged depends on the number of a tree's nodes alone, as long as
 * their names are of common length on average.
 */
#include <linux/build_bug.h>
#include <linux/math.h>
#include <linux/slab.h>
#include "memory.h"
#include "mtag.h"
#include "node.h"
#include "state.h"

#define COMMON_BYTES	48U	/* of a node whose name is of common length, 15 bytes at most */
#define SPARE_BYTES	1024U	/* charged with a tree's first node, for longer names */
#define STEP_BYTES	4096U	/* beyond that, what is charged at once */

static struct kmem_cache *cache;	/* of COMMON_BYTES */

/* Creates the cache of nodes. Context: module load. Return: 0 or -ENOMEM. */
int mtag_node_init(void)
{
	cache = kmem_cache_create("mtag_node", COMMON_BYTES, 0, SLAB_ACCOUNT, NULL);
	return cache ? 0 : -ENOMEM;
}

/* Context: no node is left. */
void mtag_node_exit(void)
{
	kmem_cache_destroy(cache);
}

/* What the allocator takes for a node. */
static size_t node_bytes(size_t len)
{
	size_t bytes = struct_size((struct mtag_node *)NULL, name, len + 1);

	return bytes <= COMMON_BYTES ? COMMON_BYTES : round_up(bytes, 32);
}

/* Context: tree->lock. */
static int node_charge(struct mtag_tree *tree, size_t bytes)
{
	size_t used = tree->names.bytes + bytes;
	size_t most = SPARE_BYTES + COMMON_BYTES * (tree->names.nr + 1);

	lockdep_assert_held(&tree->lock);
	if (used > most)
		most = round_up(used, STEP_BYTES);
	if (most > tree->names.charged) {
		if (mtag_memory_charge(most - tree->names.charged))
			return -ENOMEM;
		tree->names.charged = most;
	}
	tree->names.bytes = used;
	tree->names.nr++;
	return 0;
}

/* What is charged stays so until the tree ends. Context: tree->lock. */
static void node_uncharge(struct mtag_tree *tree, size_t len)
{
	lockdep_assert_held(&tree->lock);
	tree->names.bytes -= node_bytes(len);
	tree->names.nr--;
}

/**
 * mtag_node_alloc() - allocate a node
 * @tree:	tree that it is for
 * @len:	bytes of its name
 * @gfp:	allocation flags of the caller's context
 *
 * Context: tree->lock.
 * Return: the node, zeroed except for its length; or NULL. Its name may be read by words of 8
 * bytes.
 */
struct mtag_node *mtag_node_alloc(struct mtag_tree *tree, size_t len, gfp_t gfp)
{
	size_t bytes = node_bytes(len);
	struct mtag_node *node;

	lockdep_assert_held(&tree->lock);
	/* Two words for a common name. Others begin in the struct and end whole words beyond it. */
	BUILD_BUG_ON(offsetof(struct mtag_node, name) + 2 * sizeof(u64) > COMMON_BYTES);
	if (node_charge(tree, bytes))
		return NULL;
	node = bytes == COMMON_BYTES ? kmem_cache_zalloc(cache, gfp) : kzalloc(bytes, gfp);
	if (node)
		node->len = len;
	else
		node_uncharge(tree, len);
	return node;
}

/* Frees a node that nobody can see any longer, with its tree. */
void mtag_node_free(struct mtag_node *node)
{
	if (node_bytes(node->len) == COMMON_BYTES)
		kmem_cache_free(cache, node);
	else
		kfree(node);
}

/* Frees a node that nobody has seen. Context: tree->lock. */
void mtag_node_drop(struct mtag_tree *tree, struct mtag_node *node)
{
	lockdep_assert_held(&tree->lock);
	node_uncharge(tree, node->len);
	mtag_node_free(node);
}

static void old_node_free(struct rcu_head *rcu)
{
	struct mtag_old_node *old = container_of(rcu, struct mtag_old_node, rcu);

	mtag_node_free(old->node);
	kfree(old);
}

/* Frees a node after a grace period, and @old. Context: tree->lock. */
void mtag_node_retire(struct mtag_tree *tree, struct mtag_node *node, struct mtag_old_node *old)
{
	lockdep_assert_held(&tree->lock);
	node_uncharge(tree, node->len);
	old->node = node;
	call_rcu(&old->rcu, old_node_free);
}

/* Context: all nodes of @tree have been freed. */
void mtag_node_uncharge_all(struct mtag_tree *tree)
{
	mtag_memory_uncharge(tree->names.charged);
}
