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
struct mtag_collapse_owners;
struct mtag_walk;

/* Address → who mapped it; range.c. */
struct mtag_ranges {
	/*
	 * Tag + 1, and whether it was given explicitly. Changed under mmap_lock held for
	 * writing, or for reading together with build_lock; so are @nr and @room.
	 */
	struct maple_tree tree;
	unsigned int stores;		/* since it was swept; mmap_lock held for writing */
	unsigned int nr;		/* ranges, at most */
	unsigned int room;		/* ranges whose memory has been charged */
};

/* The mapping that is being made; event.c. All under mmap_lock held for writing. */
struct mtag_mapping {
	unsigned long addr;
	unsigned long len;		/* bytes; 0: none */
	u32 tag;			/* who maps it */
	u8 call;			/* what it will be counted as, once it is made */
	bool over;			/* it becomes @tag's when what is there has been unmapped */
};

/* The huge page that is being collapsed; collapse.c. All under mmap_lock held for writing. */
struct mtag_collapse {
	struct mtag_collapse_owners *owners;	/* of its pages; or NULL */
	bool missed;			/* not of all of them */
};

/* The fork of this space that is under way; fork.c, thread.c. */
struct mtag_fork {
	struct task_struct *task;	/* that forks; mmap_lock */
	unsigned int events;		/* page events since then; walk_lock */
	unsigned long user;		/* where that thread keeps its word, or 0; mmap_lock */
	u32 tag;			/* its tag, which the child begins with; likewise */
};

/* The fork that this space comes from; fork.c, tree.c. */
struct mtag_birth {
	u32 nr_tags;			/* that its tree had; constant */
	kuid_t uid;			/* the effective one of the forking task; constant */
	bool unborn;			/* it has not come to its end: nothing runs here */
	/*
	 * The parent had not been counted: the first walk makes all that is here untagged.
	 * mmap_lock held for writing, or build_lock.
	 */
	bool untag;
};

/* Pages under migration, and what moves page tables; migrate.c, note.c, uffd.c. */
struct mtag_migration {
	atomic_t uncharged;		/* pages taken away that are charged to nobody meanwhile */
	atomic_t charged;		/* pages taken away that stay charged; walk_lock */
	struct rb_root notes;		/* of these, by address; walk_lock */
	unsigned long shift_from;	/* page tables that mremap() moves now; walk_lock */
	unsigned long shift_to;		/* where to; walk_lock */
	unsigned long shift_len;	/* bytes; 0: none; walk_lock */
	atomic_t movers;		/* threads that move pages by userfaultfd now */
};

/**
 * struct mtag_space - what mtag keeps per tracked mm
 *
 * What each page event looks at comes first.
 */
struct mtag_space {
	struct hlist_node node;		/* in the hash of spaces; RCU, changed under hash_lock */
	struct mm_struct *mm;		/* the key; NULL once it is unhashed, under hash_lock */
	unsigned int slow;		/* MTAG_SLOW_*; changed under walk_lock */
	u32 default_tag;		/* of threads that have none of their own */
	struct mtag_accounts __rcu *accounts;	/* replaced under tree->lock */
	u32 base_tag;			/* of ranges that nobody mapped under a tag */
	u32 tree_id;			/* tree->id, one load nearer; constant */

	struct mtag_tree *tree;		/* reference; constant */
	raw_spinlock_t walk_lock;	/* what is counted while a walk or a fork runs; @slow */
	struct mtag_walk *walk;		/* the walk under way; walk_lock */
	bool live;			/* false until the first walk ended; walk_lock */
	bool dirty;			/* an event was missed: walk before the next answer */
	bool unsure;			/* there may be others: it stays dirty */
	bool by_thread;			/* tags are named after threads */

	struct mtag_ranges ranges;
	struct mtag_mapping mapping;
	struct mtag_collapse collapse;
	struct mtag_fork fork;
	struct mtag_birth birth;
	struct mtag_migration migration;

	struct list_head threads;	/* with a word or tag of their own; mtag_record_lock */
	struct rb_root pins;		/* pinned pages with words; mtag_record_lock */
	unsigned int pinned;		/* how many of mm->pinned_vm are such; hash_lock */

	u64 serial;			/* descending in each bucket of the hash */
	struct list_head sibling;	/* in tree->spaces; tree->lock */
	struct mm_struct *grabbed;	/* mm, by mmgrab(), from publishing until it is dissolved */
	struct kref ref;		/* one while it is hashed, and one for each lookup */
	struct list_head dead;		/* in the list of those whose end is still to be checked */
	struct rcu_work free;		/* frees it, after a grace period */

	atomic64_t lost;		/* events that could not be recorded */
	atomic64_t overflow;		/* tags refused for a limit */
	atomic64_t repairs;		/* walks that mended the counters */
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
