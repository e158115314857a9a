// SPDX-License-Identifier: GPL-2.0
/*
 * Spaces, one per tracked mm: look up, publish and unhash them.
 */
#include <linux/capability.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "account.h"
#include "accounts.h"
#include "calls.h"
#include "memory.h"
#include "mtag.h"
#include "note.h"
#include "range.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "stock.h"
#include "text.h"
#include "tree.h"

struct hlist_head mtag_space_hash[1 << MTAG_HASH_BITS];
atomic_t mtag_space_generation;

/* Protects changes of mtag_space_hash, space->mm and ->pinned, and the next two. */
static DEFINE_RAW_SPINLOCK(hash_lock);
static u64 last_serial;
static bool admitting;	/* the hooks are in and stay: spaces may be published */
static struct kmem_cache *cache;

static struct hlist_head *space_bucket(const struct mm_struct *mm)
{
	return &mtag_space_hash[mtag_space_bucket(mm)];
}

static void space_free(struct work_struct *work)
{
	struct mtag_space *s = container_of(to_rcu_work(work), struct mtag_space, free);

	/* One that could not be published has never been dissolved: others still find it there. */
	mtag_tree_leave(s);
	mtag_range_free(s);
	mtag_text_free(s);
	mtag_note_forget(s, false);
	mtag_tree_put(s->tree);
	mtag_stock_forget(s);
	mtag_accounts_free(rcu_dereference_protected(s->accounts, true));
	mtag_calls_free(s);
	kfree(s->collapse.owners);
	kfree(s->collapse.leaves);
	mtag_memory_uncharge(sizeof(*s));
	kmem_cache_free(cache, s);
}

/* Deferred: a hook may drop the last reference where nothing may be freed. */
static void space_release(struct kref *ref)
{
	struct mtag_space *s = container_of(ref, struct mtag_space, ref);

	queue_rcu_work(mtag_wq, &s->free);
}

/* Takes one more reference on @s, which has one that stays meanwhile. Context: any. */
struct mtag_space *mtag_space_get(struct mtag_space *s)
{
	kref_get(&s->ref);
	return s;
}

/* Context: any but hard interrupts. */
void mtag_space_put(struct mtag_space *s)
{
	kref_put(&s->ref, space_release);
}

/**
 * mtag_space_lookup() - the space of @mm with a reference, or NULL
 * @mm:		only compared
 *
 * Context: any; the caller keeps @mm from being freed.
 */
__noendbr struct mtag_space *mtag_space_lookup(const struct mm_struct *mm)
{
	struct mtag_space *s;

	rcu_read_lock();
	s = mtag_space_find(mm);
	if (s && !kref_get_unless_zero(&s->ref))
		s = NULL;
	rcu_read_unlock();
	return s;
}

/**
 * mtag_space_mine() - the space of the current process with a reference, even if it is parked
 *
 * Context: any.
 * Return: NULL if the process has none, or the current task has no mm.
 */
__noendbr struct mtag_space *mtag_space_mine(void)
{
	return current->mm ? mtag_space_lookup(current->mm) : NULL;
}

/**
 * mtag_space_current() - as mtag_space_mine(), unless it is parked
 *
 * Context: any.
 * Return: NULL if the process is not tracked, or no longer tracked.
 */
struct mtag_space *mtag_space_current(void)
{
	struct mtag_space *s = mtag_space_mine();

	if (s && mtag_space_parked(s)) {
		mtag_space_put(s);
		return NULL;
	}
	return s;
}

/* The mm of @s with a reference, for the caller to mmput(); NULL if the mm is exiting. */
struct mm_struct *mtag_space_mmget(struct mtag_space *s)
{
	struct mm_struct *mm;
	unsigned long flags;

	raw_spin_lock_irqsave(&hash_lock, flags);
	mm = s->mm;
	if (mm && !mmget_not_zero(mm))
		mm = NULL;
	raw_spin_unlock_irqrestore(&hash_lock, flags);
	return mm;
}

/**
 * mtag_space_charge_pin() - count one more pinned page of the current process
 * @s:		its space
 *
 * Context: may sleep.
 * Return: 0, and the caller owes mtag_space_uncharge_pin(); -ENOMEM at RLIMIT_MEMLOCK;
 * -ESRCH if @s has ended.
 */
int mtag_space_charge_pin(struct mtag_space *s)
{
	struct mm_struct *mm = current->mm;
	int ret = -ESRCH;

	if (atomic64_inc_return(&mm->pinned_vm) > rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT &&
	    !capable(CAP_IPC_LOCK)) {
		atomic64_dec(&mm->pinned_vm);
		return -ENOMEM;
	}
	raw_spin_lock_irq(&hash_lock);
	if (s->mm == mm) {
		s->pinned++;
		ret = 0;
	}
	raw_spin_unlock_irq(&hash_lock);
	if (ret)
		atomic64_dec(&mm->pinned_vm);
	return ret;
}

/* An unhashed space has already given back all its pinned pages. Context: may sleep. */
void mtag_space_uncharge_pin(struct mtag_space *s)
{
	raw_spin_lock_irq(&hash_lock);
	if (s->mm) {
		s->pinned--;
		atomic64_dec(&s->mm->pinned_vm);
	}
	raw_spin_unlock_irq(&hash_lock);
}

/**
 * mtag_space_next() - go through all spaces
 * @prev:	the previous space, whose reference is dropped; NULL to begin
 * @bucket:	position; 0 to begin
 *
 * A space that comes or goes meanwhile may or may not be seen; no space is seen twice.
 * Return: the next space with a reference, or NULL at the end.
 */
struct mtag_space *mtag_space_next(struct mtag_space *prev, unsigned int *bucket)
{
	struct mtag_space *s, *found = NULL;

	rcu_read_lock();
	for (; *bucket < ARRAY_SIZE(mtag_space_hash); (*bucket)++) {
		hlist_for_each_entry_rcu(s, &mtag_space_hash[*bucket], node) {
			/* The youngest come first. Go on below @prev, hashed or not. */
			if ((!prev || s->serial < prev->serial) && kref_get_unless_zero(&s->ref)) {
				found = s;
				break;
			}
		}
		if (found)
			break;
		if (prev)
			mtag_space_put(prev);
		prev = NULL;
	}
	rcu_read_unlock();
	if (prev)
		mtag_space_put(prev);
	return found;
}

/* Sets and clears bits of @s->slow. Context: any but interrupts. */
void mtag_space_change_slow(struct mtag_space *s, unsigned int set, unsigned int clear)
{
	raw_spin_lock(&s->walk_lock);
	mtag_space_change_slow_nolock(s, set, clear);
	raw_spin_unlock(&s->walk_lock);
}

/* Marks all spaces, those of @tree, or (NULL) those of trees with unlisted strays. */
static void dirty_once(bool all, const struct mtag_tree *tree)
{
	struct mtag_space *s;
	int i;

	rcu_read_lock();
	for (i = 0; i < ARRAY_SIZE(mtag_space_hash); i++)
		hlist_for_each_entry_rcu(s, &mtag_space_hash[i], node)
			if (all || (tree ? s->tree == tree : READ_ONCE(s->tree->unlisted)))
				mtag_space_mark_dirty(s);
	rcu_read_unlock();
}

static void dirty_twice(bool all, const struct mtag_tree *tree)
{
	dirty_once(all, tree);
	/*
	 * A fork may copy the counters of a parent that is still clean, and hash the child
	 * where the first pass has already been. After that pass no parent is clean.
	 */
	dirty_once(all, tree);
}

/**
 * mtag_space_mark_tree_dirty() - mark the spaces of a tree dirty: they missed an event
 * @tree:	only compared; NULL: all trees with unlisted strays
 *
 * Context: any.
 */
void mtag_space_mark_tree_dirty(const struct mtag_tree *tree)
{
	dirty_twice(false, tree);
}

/* Marks all spaces dirty: an event was missed, and its space is unknown. Context: any. */
void mtag_space_mark_all_dirty(void)
{
	dirty_twice(true, NULL);
}

/**
 * mtag_space_alloc() - allocate a space that counts nothing yet and is not hashed yet
 * @tree:	tree of the space; a reference is taken
 * @gfp:	allocation flags of the caller's context
 *
 * Return: a space with one reference, or NULL.
 */
struct mtag_space *mtag_space_alloc(struct mtag_tree *tree, gfp_t gfp)
{
	struct mtag_accounts *acc;
	struct mtag_space *s;

	if (mtag_memory_charge(sizeof(*s)))
		return NULL;
	s = kmem_cache_zalloc(cache, gfp);
	if (!s)
		goto uncharge;
	acc = mtag_accounts_alloc(s, READ_ONCE(tree->nr_tags), gfp);
	if (!acc)
		goto free;
	RCU_INIT_POINTER(s->accounts, acc);
	mtag_calls_init(s);
	s->tree = mtag_tree_get(tree);
	s->tree_id = tree->id;
	s->slow = MTAG_SLOW_WALK;
	raw_spin_lock_init(&s->walk_lock);
	mtag_range_init(s);
	INIT_LIST_HEAD(&s->sibling);
	INIT_LIST_HEAD(&s->threads);
	s->pins = RB_ROOT;
	s->migration.notes = RB_ROOT;
	kref_init(&s->ref);
	INIT_RCU_WORK(&s->free, space_free);
	return s;
free:
	kmem_cache_free(cache, s);
uncharge:
	mtag_memory_uncharge(sizeof(*s));
	return NULL;
}

/* Counts one more tracked process; false at the limit. */
bool mtag_space_admit(void)
{
	if (atomic_inc_return(&mtag_stat.tracked) <= mtag_max_processes)
		return true;
	atomic_dec(&mtag_stat.tracked);
	atomic64_inc(&mtag_stat.overflow);
	return false;
}

/* Hashes @s by @mm, with a reference for the hash; false when no space is admitted. */
static bool hash_add(struct mtag_space *s, struct mm_struct *mm)
{
	unsigned long flags;
	bool admitted;

	raw_spin_lock_irqsave(&hash_lock, flags);
	admitted = admitting;
	if (admitted) {
		mtag_space_get(s);
		mmgrab(mm);
		s->mm = mm;
		WRITE_ONCE(s->grabbed, mm);
		s->serial = ++last_serial;
		hlist_add_head_rcu(&s->node, space_bucket(mm));
	}
	raw_spin_unlock_irqrestore(&hash_lock, flags);
	return admitted;
}

/**
 * mtag_space_publish() - make @s the space of @mm
 * @s:		complete: its first page event may come at once
 * @mm:		new, or about to be tracked
 * @gfp:	allocation flags of the caller's context
 *
 * Context: may sleep if @gfp may; @mm has no space yet.
 * Return: 0; -ENOSPC at the limit of processes; -ENOMEM; -ENODEV while the hooks are being removed:
 * all spaces go then, so nothing is lost.
 */
int mtag_space_publish(struct mtag_space *s, struct mm_struct *mm, gfp_t gfp)
{
	bool counts = !mtag_space_parked(s);
	int ret;

	if (counts && !mtag_space_admit())
		return -ENOSPC;
	ret = mtag_tree_join(s, gfp);
	if (!ret && !hash_add(s, mm))
		ret = -ENODEV;
	if (ret) {
		if (counts)
			atomic_dec(&mtag_stat.tracked);
		return ret;
	}
	atomic_inc(&mtag_space_generation);
	return 0;
}

/**
 * mtag_space_unborn() - the mm that the current task creates stays untracked
 * @s:		space of the parent, or of the program that is replaced; or NULL
 * @err:	the reason
 *
 * Counts this as lost, except where nothing is lost: all spaces go when the hooks are being
 * removed, and a dying task never completes its fork or exec.
 */
void mtag_space_unborn(struct mtag_space *s, int err)
{
	if (err != -ENODEV && !fatal_signal_pending(current))
		mtag_space_add_lost(s, 1);
}

/* Unhashes @s; false if it was not hashed. Context: any. */
bool mtag_space_unhash(struct mtag_space *s)
{
	unsigned long flags;
	bool hashed;

	raw_spin_lock_irqsave(&hash_lock, flags);
	hashed = s->mm;
	if (hashed) {
		hlist_del_rcu(&s->node);
		atomic64_sub(s->pinned, &s->mm->pinned_vm);
		WRITE_ONCE(s->mm, NULL);
	}
	raw_spin_unlock_irqrestore(&hash_lock, flags);
	if (hashed)
		atomic_inc(&mtag_space_generation);
	return hashed;
}

/* True if no task runs in the mm of @s, nor ever will. */
bool mtag_space_is_deserted(struct mtag_space *s)
{
	unsigned long flags;
	bool deserted;

	/* The mm stays as long as @s is hashed. */
	raw_spin_lock_irqsave(&hash_lock, flags);
	deserted = s->mm && !atomic_read(&s->mm->mm_users);
	raw_spin_unlock_irqrestore(&hash_lock, flags);
	return deserted;
}

/* Creates the cache of spaces. Context: module load. Return: 0 or -ENOMEM. */
int mtag_space_init(void)
{
	cache = KMEM_CACHE(mtag_space, SLAB_ACCOUNT);
	return cache ? 0 : -ENOMEM;
}

/* Lets spaces be published from here on, or refuses them. Context: any. */
void mtag_space_open(bool admit)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&hash_lock, flags);
	admitting = admit;
	raw_spin_unlock_irqrestore(&hash_lock, flags);
}

/* Context: after mtag_track_exit(). */
void mtag_space_exit(void)
{
	kmem_cache_destroy(cache);
}
