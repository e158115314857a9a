/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept per tracked mm and per tree of tags. All layers share it; each part has one that
 * changes it, or says whose lock it is under.
 */
#ifndef MTAG_STATE_H
#define MTAG_STATE_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/maple_tree.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/rbtree_types.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include "stat.h"

/**
 * struct mtag_tree - the tags shared by a process and all that it forked
 * @ref:	of spaces and readers
 * @id:		never used twice; never 0
 * @build_lock: one walk, retag or change of tracking at a time; readers of all tags
 * @lock:	protects @nodes, @nr_tags growing, @spaces
 * @nodes:	by id from MTAG_ID_FIRST; RCU for readers
 * @nr_tags:	highest id + 1
 * @spaces:	those that share it, by mtag_space.sibling
 * @parked:	a space of it has been; stays. @build_lock
 * @unlisted:	it may have strays that stray.c does not list; stays, and is theirs
 * @rcu:	frees it
 */
struct mtag_tree {
	struct kref ref;
	u32 id;
	struct mutex build_lock;	/* see above */
	struct mutex lock;	/* see above */
	struct xarray nodes;
	unsigned int nr_tags;
	struct list_head spaces;
	bool parked;
	bool unlisted;
	struct rcu_head rcu;
};

/* mtag_space.slow: why the hot path must take the long way; bits */
#define MTAG_SLOW_WALK		0x1	/* a walk runs, or the first one is still to come */
#define MTAG_SLOW_FORK		0x2	/* being forked: events are counted */
#define MTAG_SLOW_PARKED	0x4	/* no longer tracked, but may share pages with its tree */
#define MTAG_SLOW_RANGE		0x8	/* has ranges with an explicit tag */

struct mtag_accounts;
struct mtag_collapse;
struct mtag_walk;

/**
 * struct mtag_space - what mtag keeps per tracked mm
 * @node:	in the hash of spaces; RCU, changed under hash_lock
 * @mm:		the key; NULL once it is not hashed any more, under hash_lock
 * @grabbed:	@mm, by mmgrab(), from its publishing until it is dissolved
 * @slow:	MTAG_SLOW_*; changed under @walk_lock
 * @default_tag: of threads that have none of their own
 * @base_tag:	of ranges that nobody mapped under a tag
 * @accounts:	RCU; replaced under tree->lock
 * @tree:	constant
 * @tree_id:	tree->id, one load nearer; constant
 * @ranges:	address → tag + 1 (and MTAG_RANGE_EXPLICIT); changed under mmap_lock
 *		held for writing, or for reading together with @build_lock
 * @walk_lock:	of what is counted while a walk or a fork is under way; @slow
 * @walk:	the walk under way; @walk_lock
 * @live:	the counters are valid (false until the first walk ended); @walk_lock
 * @dirty:	an event was missed: walk before the next answer
 * @forker:	the task that forks this space now; mmap_lock
 * @fork_events: events since the fork began; @walk_lock
 * @migrating:	pages taken away by migration that are charged to nobody meanwhile
 * @migrations:	those that stay charged, by address: migrate.c; walk_lock
 * @moving:	how many; changed under walk_lock
 * @shift_from:	page tables that mremap() moves just now; walk_lock
 * @shift_to:	where to
 * @shift_len:	bytes of them; 0: none
 * @movers:	threads that move pages by userfaultfd now
 * @unsure:	there may be others: it stays dirty
 * @serial:	its number; those of one bucket of the hash are in descending order
 * @by_thread:	tags are named after threads
 * @fork_tag:	the forking thread's tag, which the child's first thread begins with
 * @fork_user:	where that thread keeps its word, or 0
 * @born:	tags that its tree had when it was forked; constant
 * @born_uid:	the effective one of who forked it; constant
 * @range_stores: into @ranges since they were swept; mmap_lock held for writing
 * @nr_ranges:	in @ranges, at most; as @ranges
 * @range_room:	entries whose memory has been charged; as @ranges
 * @unborn:	made by a fork that has not come to its end: nothing runs in it
 * @untag:	forked before its parent had been counted: its first walk untags it;
 *		mmap_lock held for writing, or build_lock
 * @mapping:	address of the mapping that is being made; mmap_lock held for writing
 * @mapping_len: bytes of it; 0: none
 * @mapping_tag: who maps it
 * @mapping_call: what it will be counted as, once it is made
 * @mapping_over: it becomes @mapping_tag's when what is there has been unmapped
 * @sibling:	in tree->spaces; tree->lock
 * @threads:	with a word or tag of their own, by mtag_thread.of_space; mtag_record_lock
 * @pins:	pinned pages with words, by mtag_pin.node; mtag_record_lock
 * @pinned:	how many of mm->pinned_vm are such; hash_lock
 * @collapse:	owners of the pages of the huge page being collapsed, or NULL;
 *		mmap_lock held for writing
 * @collapse_missed: not of all of them; likewise
 * @ref:	one while it is hashed, and those of who looked it up
 * @dead:	in the list of spaces that ended and are still to be checked
 * @free:	frees it, after a grace period
 * @lost:	events of it that could not be recorded
 * @overflow:	tags refused to it for a limit
 * @repairs:	walks that mended its counters
 */
struct mtag_space {
	struct hlist_node node;
	struct mm_struct *mm;
	unsigned int slow;
	u32 default_tag;
	struct mtag_accounts __rcu *accounts;
	u32 base_tag;
	u32 tree_id;

	struct mm_struct *grabbed;
	struct mtag_tree *tree;
	raw_spinlock_t walk_lock;
	struct mtag_walk *walk;
	bool live;
	bool dirty;
	bool unsure;
	bool by_thread;
	bool unborn;
	bool untag;
	struct maple_tree ranges;
	unsigned int range_stores;
	unsigned int nr_ranges;
	unsigned int range_room;
	unsigned long mapping, mapping_len;
	u32 mapping_tag;
	u8 mapping_call;
	bool mapping_over;
	bool collapse_missed;
	struct mtag_collapse *collapse;

	struct task_struct *forker;
	unsigned int fork_events;
	atomic_t migrating;
	atomic_t moving;
	struct rb_root migrations;
	unsigned long shift_from, shift_to, shift_len;
	atomic_t movers;
	unsigned long fork_user;
	u32 fork_tag;
	u32 born;
	kuid_t born_uid;

	u64 serial;
	struct list_head sibling;
	struct list_head threads;
	struct rb_root pins;
	unsigned int pinned;
	struct kref ref;
	struct list_head dead;
	struct rcu_work free;
	atomic64_t lost;
	atomic64_t overflow;
	atomic64_t repairs;
};

/* Is @s of a process that is not tracked any more, but may share pages with its tree? */
static inline bool mtag_space_parked(const struct mtag_space *s)
{
	return READ_ONCE(s->slow) & MTAG_SLOW_PARKED;
}

/* @nr events could not be recorded; of @s, or NULL if it cannot be told of whom. Context: any. */
static inline void mtag_space_lost(struct mtag_space *s, int nr)
{
	if (s)
		atomic64_add(nr, &s->lost);
	atomic64_add(nr, &mtag_stat.lost);
}

/* An event of @s was missed: it is counted anew before the next answer. Context: any. */
static inline void mtag_space_dirty(struct mtag_space *s)
{
	WRITE_ONCE(s->dirty, true);
}

#endif /* MTAG_STATE_H */
