/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mtag's internal types, the interfaces between its files, its locks and
 * lifetimes.
 *
 *   hook.c --> rmap.c --> owner.c --> account.c --> report.c --> netlink.c, debugfs.c
 *      |         `-> follow.c, swap.c, ksm.c: the rarer ways of a page
 *      `--> life.c (fork, exec, exit), event.c (mmap and friends)
 *
 * Locks, outermost first:
 *
 *   tree->build_lock    mutex: one walk, retag or change of tracking in a tree at a time
 *   mm->mmap_lock       the kernel's
 *   tree->lock          mutex: the tags of a tree, its spaces and their chunks
 *   page-table lock     the kernel's; every rmap hook is called under it
 *   space->walk_lock    raw spinlock: counters, cursor and shadow while a walk runs
 *   mtag_record_lock, hash_lock, … raw spinlocks of one file, innermost
 *
 * Lifetimes: a space is hashed by its mm from its creation until that mm has no
 * pages any more (or untracking). Until it is dissolved after that it holds the
 * mm's structure by mmgrab(), so that no other mm can take its address, whatever
 * hooks missed. It is freed after a grace period when its last reference goes. A
 * hook finds it under RCU: the page-table lock disables preemption, other hooks
 * take a reference. A tree lives as long as a space or a reader refers to it.
 */
#ifndef MTAG_H
#define MTAG_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rbtree_types.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include "../include/uapi/linux/mtag.h"
#include "memory.h"
#include "stat.h"

#undef pr_fmt
#define pr_fmt(fmt) "mtag: " fmt

/*
 * What a user causes is charged to his memory cgroup. At its limit it is the
 * call that fails: nothing is killed for the sake of bookkeeping.
 */
#define MTAG_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
/* The same where nobody may sleep. */
#define MTAG_GFP_NOWAIT (GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

/* ---- account.c: counters of one (space, tag) ---- */

enum mtag_kind { MTAG_ANON, MTAG_FILE, MTAG_SHMEM, MTAG_SWAP, MTAG_KINDS };

enum mtag_call {
	MTAG_MMAP, MTAG_MUNMAP, MTAG_MREMAP, MTAG_BRK, MTAG_SHMAT, MTAG_SHMDT, MTAG_CALLS
};

#define MTAG_PEAK_BATCH		64U	/* pages a CPU may add before the peak is looked at */
#define MTAG_CHUNK_TAGS		16U
#define MTAG_CHUNK_SHIFT	ilog2(MTAG_CHUNK_TAGS)

/**
 * struct mtag_hot - what a page event changes; per CPU and account
 * @nr:		pages by kind, modulo 2^32: only the sum over CPUs means anything
 *		(so an account ends at 8 TiB). Page-table lock, this CPU
 * @touched:	first touches, cumulative
 */
struct mtag_hot {
	u32 nr[MTAG_KINDS];
	u64 touched;
};

/**
 * struct mtag_cold - the rest of an account
 * @peak:	pages, highest anon + file + shmem that was noticed
 * @calls:	by enum mtag_call
 * @bytes:	by enum mtag_call
 */
struct mtag_cold {
	atomic64_t peak;
	atomic64_t calls[MTAG_CALLS];
	atomic64_t bytes[MTAG_CALLS];
};

/**
 * struct mtag_chunk - the accounts of 16 consecutive tags
 * @hot:	by tag % 16, for each CPU
 * @known:	bits by tag % 16: see mtag_tree_sees(); tree->lock
 * @cold:	by tag % 16
 */
struct mtag_chunk {
	struct mtag_hot __percpu *hot;
	u16 known;
	struct mtag_cold cold[MTAG_CHUNK_TAGS];
};

/**
 * struct mtag_accounts - the chunks of a space; replaced by a larger one when it is full
 * @rcu:	frees the arrays, not the chunks
 * @nr_tags:	ids below this have an account; grows after what it counts
 * @nr_chunks:	in the two arrays; tree->lock
 * @room:	for chunks, in the two arrays; constant
 * @chunks:	by tag / 16
 * @hot:	chunk[i]->hot, one load nearer to the hot path
 */
struct mtag_accounts {
	struct rcu_head rcu;
	unsigned int nr_tags;
	unsigned int nr_chunks;
	unsigned int room;
	struct mtag_chunk **chunks;
	struct mtag_hot __percpu *hot[];
};

/**
 * struct mtag_sum - an account, folded over CPUs
 * @nr:		pages by kind
 * @touched:	pages first touched, cumulative
 * @peak:	pages, highest anon + file + shmem
 * @calls:	by enum mtag_call
 * @bytes:	by enum mtag_call
 */
struct mtag_sum {
	s64 nr[MTAG_KINDS];
	u64 touched;
	u64 peak;
	u64 calls[MTAG_CALLS];
	u64 bytes[MTAG_CALLS];
};

/* ---- tree.c: tags ---- */

/**
 * struct mtag_node - a tag
 * @hash:	in the table of all trees, by (tree, parent, name)
 * @tree:	no reference: a tree outlives its tags
 * @rcu:	frees it
 * @uid:	the effective one of who created it
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

/* ---- space.c: what is kept per mm ---- */

/* mtag_space.slow: why the hot path must take the long way; bits */
#define MTAG_SLOW_WALK		0x1	/* a walk runs, or the first one is still to come */
#define MTAG_SLOW_FORK		0x2	/* being forked: events are counted */
#define MTAG_SLOW_PARKED	0x4	/* no longer tracked, but may share pages with its tree */
#define MTAG_SLOW_RANGE		0x8	/* has ranges with an explicit tag */

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

/* ---- account.c ---- */
struct mtag_accounts *mtag_account_alloc(unsigned int nr_tags, gfp_t gfp);
void mtag_account_free(struct mtag_accounts *acc);
int mtag_account_reserve(struct mtag_space *s, unsigned int nr_tags, gfp_t gfp);
void mtag_account_extend(struct mtag_space *s, unsigned int nr_tags);
void mtag_account_add(struct mtag_space *s, unsigned int tag, enum mtag_kind kind, int pages);
void mtag_account_replace(struct mtag_space *s, unsigned int tag);
void mtag_account_touch(struct mtag_space *s, unsigned int tag, int pages);
void mtag_account_peak(struct mtag_space *s, unsigned int tag);
u64 mtag_account_seen(const struct mtag_accounts *acc, unsigned int tag, s64 pages);
void mtag_account_call(struct mtag_space *s, unsigned int tag, enum mtag_call call, u64 bytes);
void mtag_account_fold(const struct mtag_accounts *acc, unsigned int tag, struct mtag_sum *sum);
void mtag_account_set(struct mtag_accounts *acc, unsigned int tag, const s64 nr[MTAG_KINDS]);
void mtag_account_reset_peaks(struct mtag_space *s);
u64 mtag_account_residue(const struct mtag_accounts *acc);
s64 mtag_account_total(struct mtag_space *s, enum mtag_kind kind);
void mtag_account_know(struct mtag_accounts *acc, unsigned int tag);
bool mtag_account_known(const struct mtag_accounts *acc, unsigned int tag);
void mtag_account_inherit(struct mtag_accounts *to, const struct mtag_accounts *from);

/* ---- name.c ---- */
int mtag_name_check(const char *name, size_t len);
size_t mtag_name_component(char *name);

/* ---- tree.c ---- */
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
/* Caller holds rcu_read_lock(); NULL for reserved and unknown ids. */
struct mtag_node *mtag_tree_node(struct mtag_tree *tree, u32 tag);

/* ---- space.c ---- */
#define MTAG_HASH_BITS	12
extern struct hlist_head mtag_space_hash[1 << MTAG_HASH_BITS];

struct mtag_space *mtag_space_lookup(const struct mm_struct *mm);
struct mtag_space *mtag_space_get(struct mtag_space *s);
void mtag_space_put(struct mtag_space *s);
struct mtag_space *mtag_space_current(void);
void mtag_space_unborn(struct mtag_space *s, int err);
struct mtag_space *mtag_space_alloc(struct mtag_tree *tree, gfp_t gfp);
int mtag_space_publish(struct mtag_space *s, struct mm_struct *mm, gfp_t gfp);
void mtag_end_mm(struct mm_struct *mm);
void mtag_end_reap(void);
bool mtag_space_is_deserted(struct mtag_space *s);
bool mtag_space_unhash(struct mtag_space *s);
void mtag_end_space(struct mtag_space *s);
bool mtag_space_admit(void);
void mtag_end_retire(void);
/* A reference on the mm of a space unless it is exiting; mmput() it. */
struct mm_struct *mtag_space_mmget(struct mtag_space *s);
int mtag_space_charge_pin(struct mtag_space *s);
void mtag_space_uncharge_pin(struct mtag_space *s);
struct mtag_space *mtag_space_next(struct mtag_space *prev, unsigned int *bucket);
void mtag_space_slow(struct mtag_space *s, unsigned int set, unsigned int clear);

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

void mtag_space_dirty_tree(const struct mtag_tree *tree);
void mtag_space_dirty_all(void);
extern atomic_t mtag_space_generation;	/* changes with the set of spaces */
int mtag_space_init(void);
void mtag_end_flush(void);
void mtag_space_open(bool admit);
void mtag_space_exit(void);

/* ---- track.c ---- */
int mtag_track_start(struct mm_struct *mm);
int mtag_track_stop(struct mm_struct *mm);
int mtag_track_init(void);
extern struct delayed_work mtag_end_linger_work;
void mtag_end_linger(void);
void mtag_track_close(void);
void mtag_track_exit(void);

/* ---- thread.c: current tags ---- */
u32 mtag_thread_tag(struct mtag_space *s);
int mtag_thread_register(struct mtag_space *s, unsigned long word, u32 *tag);
int mtag_thread_set(struct mtag_space *s, struct task_struct *task, u32 tag);

/* ---- walk.c ---- */
/* What a walk found; pages. */
struct mtag_audit {
	u64 kernel;	/* RSS by the kernel's own counters */
	u64 walked;	/* present in the page tables */
	u64 accounted;	/* sum over tags of anon, file and shmem */
	u64 drift;	/* sum over tags and kinds, swap included, of |counted - walked| */
	u64 migrating;	/* migration entries */
};

int mtag_walk_audit(struct mtag_space *s, struct mm_struct *mm, struct mtag_audit *audit);
int mtag_walk_repair(struct mtag_space *s);
void mtag_walk_verify(void);

/* ---- range.c ---- */
u32 mtag_range_tag(struct mtag_space *s, unsigned long addr, unsigned long *end);

/* ---- retag.c ---- */
int mtag_retag(struct mtag_space *s, unsigned long addr, unsigned long len, u32 tag,
		     u32 flags, u64 *moved, u64 *kept);

/* ---- report.c: the one consistent read ---- */

/**
 * struct mtag_report - a process, read at one time
 * @space:	reference
 * @uid:	the effective one of the process; invalid when it is exiting
 * @bytes:	of this
 * @nr_tags:	in @sums and @virt
 * @lost:	of the space
 * @overflow:	of the space
 * @repairs:	of the space
 * @total:	of @sums, without the peak, which is no sum
 * @total_virt:	bytes, of @virt
 * @virt:	bytes of virtual size, by tag
 * @sums:	by tag
 */
struct mtag_report {
	struct mtag_space *space;
	kuid_t uid;
	size_t bytes;
	unsigned int nr_tags;
	u64 lost, overflow, repairs;
	struct mtag_sum total;
	u64 total_virt;
	u64 *virt;
	struct mtag_sum sums[];
};

/* Fills counters[MTAG_C_NR] with the bytes and calls of one tag. */
void mtag_report_counters(const struct mtag_report *r, u32 tag, u64 *counters);
struct mtag_report *mtag_report_get(struct mtag_space *s);
void mtag_report_put(struct mtag_report *r);
/* One of the module's health counters by index; NULL name at the end. */
const char *mtag_report_health(unsigned int i, u64 *value);

#endif /* MTAG_H */
