/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state per tracked mm and per tree of tags. All layers share it. Each part is changed by a
 * single file, or names the lock that protects it.
 */
#ifndef MTAG_STATE_H
#define MTAG_STATE_H

#include <linux/atomic.h>
#include <linux/bitops.h>
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
#include "calls.h"
#include "stat.h"

/**
 * struct mtag_tree - the tags shared by a process and its descendants
 */
struct mtag_tree {
	struct kref ref;		/* held by spaces and readers */
	u32 id;				/* no other tree has it; never 0; constant */
	struct mutex build_lock;	/* a walk, retag, change of tracking, or report */
	struct mutex lock;		/* protects what names it here */
	struct xarray nodes;		/* by id from MTAG_ID_FIRST; lock, RCU for readers */
	unsigned int nr_tags;		/* highest id + 1; lock for changes */
	struct list_head spaces;	/* that share the tree, by mtag_space.sibling; lock */
	u64 nr_named;			/* names given to tags so far; lock for changes */
	atomic_t ended;			/* tags of ended threads that are not free yet; sweep.c */
	int sweep_at;			/* so many of them are worth a sweep; lock for changes */
	atomic_t sweeping;		/* a sweep looks for those that own nothing */
	/* A space was parked; never cleared. Set under build_lock */
	bool parked;
	/* There may be strays that stray.c does not list; never cleared. Set under strays_lock */
	bool unlisted;
	struct {
		unsigned int nr;	/* nodes; lock, as the next two */
		size_t bytes;		/* of them */
		size_t charged;		/* for those bytes */
	} names;
	struct rcu_work free;		/* frees it and its nodes after a grace period */
};

/* Bits of mtag_space.slow: reasons for the hot path to take the slow path */
#define MTAG_SLOW_WALK		0x1	/* a walk runs, or the first one is pending */
#define MTAG_SLOW_FORK		0x2	/* being forked: events are counted */
#define MTAG_SLOW_PARKED	0x4	/* no longer tracked, but may share pages with its tree */
#define MTAG_SLOW_RANGE		0x8	/* has ranges with an explicit tag */
#define MTAG_SLOW_LIMIT		0x10	/* a tag is near a limit that somebody watches */
#define MTAG_SLOW_STACKS	0x20	/* the stacks of first touches are taken */

/* What tags are made for by themselves */
enum mtag_naming {
	MTAG_NAMING_NONE,
	MTAG_NAMING_THREAD,		/* each name of a thread */
	MTAG_NAMING_TID,		/* each thread */
	MTAG_NAMING_MAP,		/* each name of a mapping */
};

struct mtag_accounts;
struct mtag_bell;
struct mtag_collapse_owners;
struct mtag_leaf;
struct mtag_stackset;
struct mtag_text;
struct mtag_touched;
struct mtag_walk;

/* Address ranges, each with the tag under which it was mapped; range.c. */
struct mtag_ranges {
	/*
	 * Tag + 1, and whether the tag is explicit. Changed under mmap_lock held for
	 * writing, or for reading together with build_lock; so are @nr and @room.
	 */
	struct maple_tree tree;
	u64 version;			/* changes after @tree, under its locks; see answer.h */
	unsigned int stores;		/* since the last sweep; mmap_lock held for writing */
	unsigned int nr;		/* upper bound of the number of ranges */
	unsigned int room;		/* ranges whose memory has been charged */
};

/* The mapping being created; event.c. All under mmap_lock held for writing. */
struct mtag_mapping {
	unsigned long addr;
	unsigned long len;		/* bytes; 0: none */
	u32 tag;			/* of the thread that maps it */
	u8 call;			/* enum mtag_call to count, once the mapping exists */
	bool over;			/* gets @tag after an older mapping there is unmapped */
};

/* The huge page being collapsed; collapse.c. Used under mmap_lock held for writing. */
struct mtag_collapse {
	struct mtag_collapse_owners *owners;	/* of its pages; or NULL. Set once, by cmpxchg() */
	struct mtag_leaf *leaves;	/* likewise, of a space with stacks */
	bool missed;			/* @owners is incomplete */
};

/* The fork under way; fork.c, thread.c. The last two are set in the child's space. */
struct mtag_fork {
	struct task_struct *task;	/* the forking task; walk_lock */
	unsigned int events;		/* page events since the fork began; walk_lock */
	unsigned long user;		/* address of that task's word, or 0; only it uses this */
	u32 tag;			/* that task's tag, inherited by the child; likewise */
};

/* The fork that created this space; fork.c, tree.c. */
struct mtag_birth {
	u64 names_seen;			/* tree->nr_named at the fork; constant */
	kuid_t uid;			/* effective uid of the forking task; constant */
	/*
	 * The fork has not completed: no task runs here. Set before others see the space, and
	 * cleared, by smp_store_release(), before the first task of the process runs.
	 */
	bool forking;
	/*
	 * The first walk makes all pages here untagged: the process is being tracked, or it was
	 * forked from such a one meanwhile. Set before others see the space, or build_lock.
	 */
	bool untag;
	/* Was tracked while running: earlier system calls may be in progress; as @untag */
	bool attached;
};

/* Pages under migration, and moves of page tables; migrate.c, note.c, uffd.c. */
struct mtag_migration {
	atomic_t uncharged;		/* pages taken away and uncharged meanwhile */
	atomic_t charged;		/* pages taken away that stay charged; walk_lock */
	struct rb_root notes;		/* of the charged ones, by address; walk_lock */
	unsigned int nr_notes;		/* walk_lock */
	unsigned long shift_from;	/* page tables that mremap() moves now; walk_lock */
	unsigned long shift_to;		/* their destination; walk_lock */
	unsigned long shift_len;	/* bytes; 0: none; walk_lock */
	const struct task_struct *shifter;	/* moves them; only compared; walk_lock */
	atomic_t movers;		/* threads that move pages by userfaultfd now */
};

/*
 * What is needed to take stacks; text.c, stacks.c. Changed under mmap_lock held for writing, or for
 * reading together with build_lock.
 */
struct mtag_stacks {
	struct mtag_text __rcu *text;	/* where executable memory is; NULL: nowhere */
	struct mtag_bell *bell;		/* rung for a new file; or NULL; bell_lock, too */
	struct mtag_touched *touched;	/* what was ever touched; set before MTAG_SLOW_STACKS is */
	struct mtag_stackset *named;	/* what it was told of; or NULL. Set once, by cmpxchg() */
	unsigned int one_in;		/* of so many first touches one is sampled */
	bool one_in_varied;		/* it was another before */
};

/* Where the process keeps its view of its heap; heap.c. Both under walk_lock. */
struct mtag_heap {
	unsigned long address;
	unsigned long length;		/* 0: there is none */
};

/**
 * struct mtag_space - the state of a tracked mm
 *
 * Members that each page event reads come first.
 */
struct mtag_space {
	struct hlist_node node;		/* in the hash of spaces; RCU, changed under hash_lock */
	struct mm_struct *mm;		/* hash key; NULL once unhashed, under hash_lock */
	unsigned int slow;		/* MTAG_SLOW_*; by mtag_space_change_slow() */
	u32 default_tag;		/* of threads without one; READ_ONCE, WRITE_ONCE, xchg() */
	struct mtag_accounts __rcu *accounts;	/* replaced under tree->lock */
	u32 base_tag;			/* of addresses that @ranges does not contain; constant */
	u32 tree_id;			/* tree->id, which saves a load; constant */
	unsigned long cpus;		/* by CPU % 64: may it have accounts cached? Atomic */

	struct mtag_tree *tree;		/* reference; constant */
	raw_spinlock_t walk_lock;	/* protects counters during a walk or a fork */
	struct mtag_walk *walk;		/* the walk under way; walk_lock */
	bool live;			/* counted, not untracked since; changed under walk_lock */
	/*
	 * An event was missed: walk before the next answer. Set without a lock, and cleared under
	 * build_lock. It and the next are read without: mtag_space_wrong().
	 */
	bool dirty;
	bool repairing;			/* that walk is under way; changed under build_lock */
	/* More events may be missed: the space stays dirty. Never cleared; WRITE_ONCE, READ_ONCE */
	bool unsure;
	u8 naming;			/* enum mtag_naming; READ_ONCE, WRITE_ONCE */
	bool exit_told;			/* the exit event was sent; by xchg() */
	/* The OOM killer kills it, and found it alive. Never cleared; WRITE_ONCE, READ_ONCE */
	bool oom;
	/*
	 * Its sums were the kernel's when it ended. Written by __mmput() of its mm alone, and read
	 * by end_work() after that, unless mtag_end_reap() has ended the space meanwhile.
	 */
	bool sums_matched;
	/* Whose space this is; only compared. READ_ONCE, WRITE_ONCE */
	const struct signal_struct *process;

	struct mtag_ranges ranges;
	struct mtag_mapping mapping;
	struct mtag_collapse collapse;
	struct mtag_fork fork;
	struct mtag_birth birth;
	struct mtag_migration migration;
	struct mtag_stacks stacks;
	struct mtag_heap heap;
	struct xarray calls;		/* struct mtag_calls, by tag; only added, by xa_cmpxchg() */
	struct mtag_calls untagged_calls;	/* atomic counts, as those */
	struct hlist_head limits;	/* struct mtag_limit; RCU, changed under watch_lock */

	struct list_head threads;	/* with a word or tag of their own; mtag_record_lock */
	struct rb_root pins;		/* pinned pages with words; mtag_record_lock */
	unsigned int pinned;		/* their share of mm->pinned_vm; hash_lock */

	u64 serial;			/* descending in each bucket of the hash; constant there */
	struct list_head sibling;	/* in tree->spaces; tree->lock */
	/* Its mm, held by mmgrab() until dissolved. Set under hash_lock at publication; constant */
	struct mm_struct *grabbed;
	struct kref ref;		/* one while hashed, and one for each lookup */
	/* In the list of dead spaces to be checked; dead_lock, then in end_work()'s own list */
	struct list_head dead;
	struct rcu_work free;		/* frees the space after a grace period */

	atomic64_t lost;		/* events that could not be recorded */
	atomic64_t overflow;		/* tags refused because of a limit */
	atomic64_t repairs;		/* walks that repaired the counters */
};

/* Is @s parked? Its process is no longer tracked, but may share pages with its tree. */
static inline bool mtag_space_parked(const struct mtag_space *s)
{
	return READ_ONCE(s->slow) & MTAG_SLOW_PARKED;
}

/* Are the stacks of first touches in @s taken? */
static inline bool mtag_space_stacks(const struct mtag_space *s)
{
	/* Pairs with mtag_space_change_slow_nolock(): what they need is there. */
	return smp_load_acquire(&s->slow) & MTAG_SLOW_STACKS;
}

/*
 * Sets and clears bits of @s->slow; one in both is set. Takes no lock: bits that change what a
 * charge does change under walk_lock, which mtag_space_change_slow() takes; MTAG_SLOW_LIMIT does
 * not. Context: any.
 */
static inline void mtag_space_change_slow_nolock(struct mtag_space *s, unsigned int set,
						 unsigned int clear)
{
	set_mask_bits(&s->slow, clear, set);
}

/* Counts @nr events that could not be recorded. @s is NULL if unknown. Context: any. */
static inline void mtag_space_add_lost(struct mtag_space *s, int nr)
{
	if (s)
		atomic64_add(nr, &s->lost);
	atomic64_add(nr, &mtag_stat.lost);
}

/* Notes that an event of @s was missed: a walk precedes the next answer. Context: any. */
static inline void mtag_space_mark_dirty(struct mtag_space *s)
{
	WRITE_ONCE(s->dirty, true);
}

/*
 * The caller of a page event of @s is not in the tables: its event is treated as an ordinary one,
 * but may be another. Has the space recounted. Context: any.
 */
static inline void mtag_space_add_foreign(struct mtag_space *s)
{
	atomic64_inc(&mtag_stat.foreign);
	mtag_space_mark_dirty(s);
}

/*
 * Are the numbers of @s known to be wrong, or were they until a repair that is under way?
 * Context: any.
 */
static inline bool mtag_space_wrong(const struct mtag_space *s)
{
	/* It may begin or fail between the looks: pairs with mtag_walk_repair(). */
	return smp_load_acquire(&s->dirty) || smp_load_acquire(&s->repairing) ||
	       READ_ONCE(s->dirty);
}

#endif /* MTAG_STATE_H */
