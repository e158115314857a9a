// SPDX-License-Identifier: GPL-2.0
/*
 * Manages tags: a tree of names shared by a process and its descendants. Ids are
 * assigned in ascending order. A tag stays while the tree lives, so a page's owner
 * needs no reference; only bytid.c uses ids again, of tags that own nothing. The
 * node of a tag that gets another name is replaced under RCU.
 */
#include <linux/cred.h>
#include <linux/jhash.h>
#include <linux/rhashtable.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "account.h"
#include "accounts.h"
#include "mtag.h"
#include "name.h"
#include "node.h"
#include "stat.h"
#include "state.h"
#include "stray.h"
#include "tell.h"
#include "tree.h"

struct node_key {
	u32 tree_id;
	u16 parent;
	u8 len;
	const char *name;
};

static struct rhashtable node_table;
/* The ids of all trees. With an id in two trees the tags of one would be those of the other. */
static DEFINE_XARRAY_ALLOC1(tree_ids);
static u32 next_tree_id;	/* xa_lock of tree_ids */

static u32 hash_name(u32 tree_id, u16 parent, const char *name, u8 len, u32 seed)
{
	return jhash(name, len, jhash_2words(tree_id, parent, seed));
}

static u32 key_hashfn(const void *data, u32 len, u32 seed)
{
	const struct node_key *key = data;

	return hash_name(key->tree_id, key->parent, key->name, key->len, seed);
}

static u32 obj_hashfn(const void *data, u32 len, u32 seed)
{
	const struct mtag_node *node = data;

	return hash_name(node->tree_id, node->parent, node->name, node->len, seed);
}

static int obj_cmpfn(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct node_key *key = arg->key;
	const struct mtag_node *node = obj;

	return node->tree_id != key->tree_id || node->parent != key->parent ||
	       node->len != key->len || memcmp(node->name, key->name, key->len);
}

static const struct rhashtable_params node_params = {
	.head_offset = offsetof(struct mtag_node, hash),
	.hashfn = key_hashfn,
	.obj_hashfn = obj_hashfn,
	.obj_cmpfn = obj_cmpfn,
	.automatic_shrinking = true,
};

/* Sets up the table of names and the cache of nodes. Return: 0 or -ENOMEM. */
int mtag_tree_init(void)
{
	int ret = mtag_node_init();

	if (ret)
		return ret;
	ret = rhashtable_init(&node_table, &node_params);
	if (ret)
		mtag_node_exit();
	return ret;
}

/* Waits for trees that are being freed. Context: no tree is referenced. May sleep. */
void mtag_tree_exit(void)
{
	/* First old nodes and the works that free trees, then those works. */
	rcu_barrier();
	flush_workqueue(mtag_wq);
	rhashtable_destroy(&node_table);
	mtag_node_exit();
}

/**
 * mtag_tree_create() - create a tree with the reserved tags only
 * @gfp:	for the tree itself
 *
 * Return: the tree with one reference, or NULL.
 */
struct mtag_tree *mtag_tree_create(gfp_t gfp)
{
	struct mtag_tree *tree = kzalloc(sizeof(*tree), gfp);

	if (!tree)
		return NULL;
	kref_init(&tree->ref);
	if (xa_alloc_cyclic(&tree_ids, &tree->id, xa_mk_value(0), xa_limit_32b, &next_tree_id,
			    gfp & ~__GFP_ACCOUNT) < 0) {
		kfree(tree);
		return NULL;
	}
	mutex_init(&tree->lock);
	mutex_init(&tree->build_lock);
	xa_init_flags(&tree->nodes, XA_FLAGS_ACCOUNT);
	tree->nr_tags = MTAG_ID_FIRST;
	INIT_LIST_HEAD(&tree->spaces);
	return tree;
}

/* Takes one more reference on @tree, which has one that stays meanwhile. Context: any. */
struct mtag_tree *mtag_tree_get(struct mtag_tree *tree)
{
	kref_get(&tree->ref);
	return tree;
}

static void tree_free(struct work_struct *work)
{
	struct mtag_tree *tree = container_of(to_rcu_work(work), struct mtag_tree, free);
	struct mtag_node *node;
	unsigned long id;

	xa_for_each(&tree->nodes, id, node) {
		mtag_node_free(node);
		cond_resched();
	}
	xa_destroy(&tree->nodes);
	mtag_node_uncharge_all(tree);
	xa_erase(&tree_ids, tree->id);
	kfree(tree);
}

static void tree_release(struct kref *ref)
{
	struct mtag_tree *tree = container_of(ref, struct mtag_tree, ref);
	struct mtag_node *node;
	unsigned long id;

	mtag_stray_forget(tree);
	xa_for_each(&tree->nodes, id, node) {
		rhashtable_remove_fast(&node_table, &node->hash, node_params);
		cond_resched();
	}
	INIT_RCU_WORK(&tree->free, tree_free);
	queue_rcu_work(mtag_wq, &tree->free);
}

/* Context: may sleep. */
void mtag_tree_put(struct mtag_tree *tree)
{
	kref_put(&tree->ref, tree_release);
}

struct mtag_node *mtag_tree_node(struct mtag_tree *tree, u32 tag)
{
	return tag < MTAG_ID_FIRST ? NULL : xa_load(&tree->nodes, tag);
}

/* Is @tag reserved, or a tag of @tree? Context: any. */
bool mtag_tree_has(struct mtag_tree *tree, u32 tag)
{
	return tag < MTAG_ID_FIRST || (tag <= MTAG_ID_MAX && xa_load(&tree->nodes, tag));
}

/* Context: RCU read side. */
static bool sees_node(struct mtag_space *s, const struct mtag_node *node, kuid_t uid)
{
	return uid_eq(node->uid, uid) ||
	       (node->born < s->birth.names_seen && uid_eq(node->uid, s->birth.uid)) ||
	       mtag_account_known(rcu_dereference(s->accounts), node->id);
}

/* As mtag_tree_sees(), of a tag of its tree. Context: RCU read side. */
bool mtag_tree_sees_node(struct mtag_space *s, const struct mtag_node *node, kuid_t uid)
{
	while (node && sees_node(s, node, uid))
		node = mtag_tree_node(s->tree, node->parent);
	return !node;
}

/**
 * mtag_tree_sees() - may the process of @s see the name of @tag?
 * @s:		space
 * @tag:	id
 * @uid:	effective uid of the process
 *
 * Relatives of different users may share a tree, as when a service forks children
 * that drop their privileges. A process sees the tags that its own user created,
 * those its parent saw at the fork, and those it asked for by name.
 * Context: any.
 * Return: true if the process may see @tag and all tags above it.
 */
bool mtag_tree_sees(struct mtag_space *s, u32 tag, kuid_t uid)
{
	bool ret;

	rcu_read_lock();
	ret = mtag_tree_sees_node(s, mtag_tree_node(s->tree, tag), uid);
	rcu_read_unlock();
	return ret;
}

/* Lets @s see @tag, which it asked for by name, and all tags above. Context: tree->lock. */
void mtag_tree_know(struct mtag_space *s, u32 tag)
{
	struct mtag_accounts *acc;
	struct mtag_node *node;

	lockdep_assert_held(&s->tree->lock);
	acc = rcu_dereference_protected(s->accounts, lockdep_is_held(&s->tree->lock));
	for (; (node = mtag_tree_node(s->tree, tag)); tag = node->parent)
		mtag_account_know(acc, tag);
}

/* The tag @name below @parent, or NULL. Context: tree->lock. */
struct mtag_node *mtag_tree_find(struct mtag_tree *tree, u32 parent, const char *name, size_t len)
{
	struct node_key key = { .tree_id = tree->id, .parent = parent, .len = len, .name = name };

	lockdep_assert_held(&tree->lock);
	return rhashtable_lookup_fast(&node_table, &key, node_params);
}

/* Context: tree->lock. */
static struct mtag_node *node_alloc(struct mtag_tree *tree, u16 id, u32 parent, const char *name,
				    size_t len, gfp_t gfp)
{
	struct mtag_node *above = mtag_tree_node(tree, parent), *node;
	u8 depth = above ? above->depth + 1 : 1;

	lockdep_assert_held(&tree->lock);
	if (depth > MTAG_DEPTH_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	node = mtag_node_alloc(tree, len, gfp);
	if (!node)
		return ERR_PTR(-ENOMEM);
	node->tree_id = tree->id;
	node->uid = current_euid();
	node->born = tree->nr_named;
	node->id = id;
	node->parent = parent;
	node->depth = depth;
	memcpy(node->name, name, len);
	return node;
}

/* Context: tree->lock. */
static void keep_parent(struct mtag_tree *tree, const struct mtag_node *node)
{
	struct mtag_node *parent = mtag_tree_node(tree, node->parent);

	lockdep_assert_held(&tree->lock);
	if (parent)
		WRITE_ONCE(parent->kept, true);
}

/* Puts @node, complete, in the place of @old. Context: tree->lock. Return: 0, or @node is freed. */
static int node_swap(struct mtag_tree *tree, struct mtag_node *old, struct mtag_node *node,
		     gfp_t gfp)
{
	struct mtag_old_node *o = kmalloc(sizeof(*o), gfp);
	int ret = o ? rhashtable_insert_fast(&node_table, &node->hash, node_params) : -ENOMEM;

	lockdep_assert_held(&tree->lock);
	if (ret) {
		kfree(o);
		mtag_node_drop(tree, node);
		return ret;
	}
	/* The entry exists: nothing is allocated, and the marks stay. */
	xa_store(&tree->nodes, node->id, node, 0);
	rhashtable_remove_fast(&node_table, &old->hash, node_params);
	mtag_node_retire(tree, old, o);
	return 0;
}

/**
 * mtag_tree_replace() - give a tag that owns nothing to somebody else, under another name
 * @tree:	tree of the tag
 * @old:	the tag's node; freed after a grace period
 * @parent:	id of the tag above it from now on
 * @name:	valid; no other tag below @parent has it
 * @len:	bytes at @name
 * @gfp:	allocation flags of the caller's context
 *
 * A reader sees the old name or the new one.
 * Context: tree->lock.
 * Return: the new node, whose other members are those of a new tag; or an error, and the old name
 * stays.
 */
struct mtag_node *mtag_tree_replace(struct mtag_tree *tree, struct mtag_node *old, u32 parent,
				    const char *name, size_t len, gfp_t gfp)
{
	struct mtag_node *node = node_alloc(tree, old->id, parent, name, len, gfp);
	int ret;

	lockdep_assert_held(&tree->lock);
	if (IS_ERR(node))
		return node;
	ret = node_swap(tree, old, node, gfp);
	if (ret)
		return ERR_PTR(ret);
	keep_parent(tree, node);
	WRITE_ONCE(tree->nr_named, tree->nr_named + 1);
	return node;
}

/**
 * mtag_tree_rename() - give a tag another name
 * @tree:	tree of the tag
 * @old:	the tag's node; freed after a grace period
 * @name:	valid; no other tag below the same parent has it
 * @len:	bytes at @name
 * @gfp:	allocation flags of the caller's context
 *
 * It stays the same tag: the processes that may see its name stay the same at any moment.
 * Context: tree->lock.
 * Return: 0; or an error, and the old name stays.
 */
int mtag_tree_rename(struct mtag_tree *tree, struct mtag_node *old, const char *name, size_t len,
		     gfp_t gfp)
{
	struct mtag_node *node = node_alloc(tree, old->id, old->parent, name, len, gfp);

	lockdep_assert_held(&tree->lock);
	if (IS_ERR(node))
		return PTR_ERR(node);
	node->uid = old->uid;
	node->born = old->born;
	node->kept = old->kept;
	return node_swap(tree, old, node, gfp);
}

static int node_create(struct mtag_space *s, u32 parent, const char *name, size_t len, gfp_t gfp)
{
	struct mtag_tree *tree = s->tree;
	struct mtag_node *node;
	int ret;

	if (tree->nr_tags > min_t(u64, MTAG_ID_MAX, (u64)mtag_max_tags + MTAG_ID_FIRST - 1))
		return -ENOSPC;
	node = node_alloc(tree, tree->nr_tags, parent, name, len, gfp);
	if (IS_ERR(node))
		return PTR_ERR(node);
	ret = mtag_accounts_reserve_all(tree, s, node->id + 1, gfp);
	if (ret)
		goto free;
	ret = xa_reserve(&tree->nodes, node->id, gfp);
	if (ret)
		goto free;
	ret = rhashtable_insert_fast(&node_table, &node->hash, node_params);
	if (ret)
		goto release;
	xa_store(&tree->nodes, node->id, node, 0);
	keep_parent(tree, node);
	WRITE_ONCE(tree->nr_named, tree->nr_named + 1);
	/* The node comes before the accounts: only an existing tag is ever charged. */
	WRITE_ONCE(tree->nr_tags, node->id + 1);
	mtag_accounts_extend_all(tree, s, node->id + 1);
	return node->id;
release:
	xa_release(&tree->nodes, node->id);
free:
	mtag_node_drop(tree, node);
	return ret;
}

/*
 * A hook that must not sleep spins for a while. It gives up in the end, as the
 * holder may not be running.
 */
bool mtag_tree_lock(struct mtag_tree *tree, gfp_t gfp)
{
	int i;

	if (gfpflags_allow_blocking(gfp)) {
		mutex_lock(&tree->lock);
		return true;
	}
	for (i = 0; i < 100000; i++) {
		if (mutex_trylock(&tree->lock))
			return true;
		cpu_relax();
	}
	return false;
}

/* Adds @s to the spaces of its tree, with an account for each tag. */
int mtag_tree_join(struct mtag_space *s, gfp_t gfp)
{
	struct mtag_tree *tree = s->tree;
	int ret;

	if (!mtag_tree_lock(tree, gfp))
		return -EBUSY;
	ret = mtag_accounts_reserve(s, tree->nr_tags, gfp);
	if (!ret) {
		mtag_accounts_extend(s, tree->nr_tags);
		list_add(&s->sibling, &tree->spaces);
	}
	mutex_unlock(&tree->lock);
	return ret;
}

/* Context: may sleep. */
void mtag_tree_leave(struct mtag_space *s)
{
	/* Only the caller could add the space to the tree, so do not wait for the tree's users. */
	if (list_empty(&s->sibling))
		return;
	mutex_lock(&s->tree->lock);
	list_del_init(&s->sibling);
	mutex_unlock(&s->tree->lock);
}

static int intern_tag(struct mtag_space *s, u32 parent, const char *name, size_t len, bool keep,
		      gfp_t gfp)
{
	struct mtag_tree *tree = s->tree;
	struct mtag_node *node;
	int ret;

	if (!mtag_tree_lock(tree, gfp))
		return -EBUSY;
	node = mtag_tree_find(tree, parent, name, len);
	ret = node ? node->id : node_create(s, parent, name, len, gfp);
	if (ret >= 0) {
		mtag_tree_know(s, ret);
		if (keep)
			WRITE_ONCE(mtag_tree_node(tree, ret)->kept, true);
	}
	mutex_unlock(&tree->lock);
	/* An allocation may fail just because the task is dying. It will never use the tag. */
	if ((ret == -ENOSPC || ret == -ENOMEM || ret == -ENAMETOOLONG) &&
	    !fatal_signal_pending(current)) {
		atomic64_inc(&s->overflow);
		atomic64_inc(&mtag_stat.overflow);
		mtag_tell("overflow", current->group_leader);
	}
	return ret;
}

/**
 * mtag_tree_intern() - find or create the tag @name below @parent
 * @s:		space; the tag is created for its whole tree
 * @parent:	id; MTAG_ID_UNTAGGED for a first-level tag
 * @name:	@len bytes, no NUL needed
 * @len:	bytes
 *
 * Context: may sleep.
 * Return: the tag; -EINVAL or -ENAMETOOLONG for the name or depth, -ENOENT for
 * the parent, -ENOSPC at the limit of tags, -ENOMEM. A tag refused because of a
 * limit is counted as overflow of the space.
 */
int mtag_tree_intern(struct mtag_space *s, u32 parent, const char *name, size_t len)
{
	int ret = mtag_name_check(name, len);

	if (ret)
		return ret;
	if (parent == MTAG_ID_KSM || !mtag_tree_has(s->tree, parent) ||
	    !mtag_tree_sees(s, parent, current_euid()))
		return -ENOENT;
	return intern_tag(s, parent, name, len, true, MTAG_GFP);
}

/**
 * mtag_tree_make() - find or create a tag for the module's own purposes
 * @s:		space; the tag is created for its whole tree
 * @parent:	id of a tag of the tree
 * @name:	valid; @len bytes
 * @len:	bytes
 * @gfp:	allows blocking if the caller may sleep
 *
 * Return: as mtag_tree_intern(); -EBUSY if the caller must not sleep and the tree is locked.
 */
int mtag_tree_make(struct mtag_space *s, u32 parent, const char *name, size_t len, gfp_t gfp)
{
	return intern_tag(s, parent, name, len, false, gfp);
}
