// SPDX-License-Identifier: GPL-2.0
/*
 * Remembers strays: processes that a tracked process forked, but that could not
 * be tracked. They share pages with their relatives in its tree, which have these
 * pages charged. If a stray is tracked later its pages become untagged, so its
 * relatives must be counted anew.
 *
 * A small static table lists the strays. When it is full, only the trees are
 * marked that may have further ones.
 */
#include <linux/sched/mm.h>
#include "mtag.h"
#include "state.h"
#include "stray.h"

#define STRAYS_MAX 256

/**
 * struct stray - a process that was not tracked when it was forked
 * @mm:		held by mmgrab(), so that no other mm takes its address; NULL: a free slot
 * @tree:	tree of its relatives; the slot is freed with the tree
 */
struct stray {
	struct mm_struct *mm;
	struct mtag_tree *tree;
};

static struct stray strays[STRAYS_MAX];
static unsigned int nr_strays;
static unsigned int nr_unlisted;	/* trees that may have more: mtag_tree.unlisted */
static LIST_HEAD(untaggings);
/* Protects all of the above. The two counts are also read without it. */
static DEFINE_RAW_SPINLOCK(strays_lock);

static bool has_strays(void)
{
	return READ_ONCE(nr_strays) || READ_ONCE(nr_unlisted);
}

/* Context: strays_lock. */
static struct stray *stray_find(const struct mm_struct *mm)
{
	struct stray *each;

	lockdep_assert_held(&strays_lock);
	for (each = strays; each < strays + STRAYS_MAX; each++)
		if (each->mm == mm)
			return each;
	return NULL;
}

/* Context: strays_lock. */
static void stray_list(struct mm_struct *mm, struct mtag_tree *tree)
{
	struct stray *stray = stray_find(NULL);

	lockdep_assert_held(&strays_lock);
	if (!stray) {
		WRITE_ONCE(nr_unlisted, nr_unlisted + !tree->unlisted);
		WRITE_ONCE(tree->unlisted, true);
		return;
	}
	mmgrab(mm);
	*stray = (struct stray){ .mm = mm, .tree = tree };
	WRITE_ONCE(nr_strays, nr_strays + 1);
}

/**
 * mtag_stray_add() - remember an untracked process that shares pages with a tree
 * @mm:		mm of the process
 * @tree:	the tree
 *
 * Context: any.
 */
void mtag_stray_add(struct mm_struct *mm, struct mtag_tree *tree)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&strays_lock, flags);
	if (!stray_find(mm))
		stray_list(mm, tree);
	raw_spin_unlock_irqrestore(&strays_lock, flags);
}

/**
 * mtag_stray_fork() - make the child of a stray a stray, too
 * @parent:	mm of the untracked process that forks
 * @child:	mm of its child
 *
 * Context: any.
 */
void mtag_stray_fork(const struct mm_struct *parent, struct mm_struct *child)
{
	struct stray *stray;
	unsigned long flags;

	if (!has_strays())
		return;
	raw_spin_lock_irqsave(&strays_lock, flags);
	stray = stray_find(parent);
	if (stray)
		stray_list(child, stray->tree);
	raw_spin_unlock_irqrestore(&strays_lock, flags);
}

/**
 * mtag_stray_end() - forget a process that has no pages left, or is tracked and counted
 * @mm:		only compared
 *
 * Context: any in which mmdrop() may be called; it never drops the last reference on @mm.
 */
void mtag_stray_end(struct mm_struct *mm)
{
	struct stray *stray;
	unsigned long flags;

	if (!has_strays())
		return;
	raw_spin_lock_irqsave(&strays_lock, flags);
	stray = stray_find(mm);
	if (stray) {
		stray->mm = NULL;
		WRITE_ONCE(nr_strays, nr_strays - 1);
	}
	raw_spin_unlock_irqrestore(&strays_lock, flags);
	if (stray)
		mmdrop(mm);
}

/*
 * Is @mm a stray, or may it be an unlisted one? Fills in its tree, or NULL if unlisted.
 * Context: strays_lock.
 */
static bool relatives_of(const struct mm_struct *mm, const struct mtag_tree **tree)
{
	const struct stray *stray = stray_find(mm);

	lockdep_assert_held(&strays_lock);
	*tree = stray ? stray->tree : NULL;
	return stray || nr_unlisted;
}

/**
 * mtag_stray_concerns() - may a tracked process share pages with an untracked one?
 * @mm:		mm of the untracked process, in which the owner of a page changes
 * @tree:	filled for mtag_space_mark_tree_dirty(): the tree whose spaces may have the page
 *
 * Context: any.
 * Return: false if no tracked process can have the page.
 */
bool mtag_stray_concerns(const struct mm_struct *mm, const struct mtag_tree **tree)
{
	unsigned long flags;
	bool is;

	if (!has_strays())
		return false;
	raw_spin_lock_irqsave(&strays_lock, flags);
	is = relatives_of(mm, tree);
	raw_spin_unlock_irqrestore(&strays_lock, flags);
	return is;
}

/**
 * mtag_stray_untag_begin() - begin to make the pages of a process untagged
 * @u:		filled; the caller must mtag_stray_untag_end(). If @u->concerns, the caller must
 *		mtag_space_mark_tree_dirty() now and again before the end
 * @mm:		mm of the process
 *
 * If the process is a stray, its relatives must be counted anew. A relative that exits before that
 * uncharges some pages from another tag than it charged. A relative that is counted meanwhile must
 * be counted again.
 * Context: any.
 */
void mtag_stray_untag_begin(struct mtag_untagging *u, const struct mm_struct *mm)
{
	unsigned long flags;

	u->concerns = false;
	if (!has_strays())
		return;
	raw_spin_lock_irqsave(&strays_lock, flags);
	u->concerns = relatives_of(mm, &u->tree);
	if (u->concerns)
		list_add(&u->node, &untaggings);
	raw_spin_unlock_irqrestore(&strays_lock, flags);
}

/* The pages are untagged now. Context: any. */
void mtag_stray_untag_end(struct mtag_untagging *u)
{
	unsigned long flags;

	if (!u->concerns)
		return;
	raw_spin_lock_irqsave(&strays_lock, flags);
	list_del(&u->node);
	raw_spin_unlock_irqrestore(&strays_lock, flags);
}

/* May @tree have strays? Context: any. */
bool mtag_stray_has(const struct mtag_tree *tree)
{
	struct stray *each;
	unsigned long flags;
	bool has;

	if (!has_strays())
		return false;
	raw_spin_lock_irqsave(&strays_lock, flags);
	has = tree->unlisted;
	for (each = strays; each < strays + STRAYS_MAX && !has; each++)
		has = each->mm && each->tree == tree;
	raw_spin_unlock_irqrestore(&strays_lock, flags);
	return has;
}

/**
 * mtag_stray_untags() - are the pages of a stray of @tree becoming untagged now?
 * @tree:	the tree
 *
 * Context: any.
 */
bool mtag_stray_untags(const struct mtag_tree *tree)
{
	const struct mtag_untagging *u;
	unsigned long flags;
	bool untags = false;

	if (!has_strays())
		return false;
	raw_spin_lock_irqsave(&strays_lock, flags);
	list_for_each_entry(u, &untaggings, node)
		untags |= u->tree ? u->tree == tree : tree->unlisted;
	raw_spin_unlock_irqrestore(&strays_lock, flags);
	return untags;
}

/* Frees the slot of one stray of @tree. Returns false if there is none. */
static bool forget_one(const struct mtag_tree *tree)
{
	struct mm_struct *mm = NULL;
	struct stray *each;
	unsigned long flags;

	raw_spin_lock_irqsave(&strays_lock, flags);
	for (each = strays; each < strays + STRAYS_MAX && !mm; each++) {
		if (each->mm && each->tree == tree) {
			mm = each->mm;
			each->mm = NULL;
			WRITE_ONCE(nr_strays, nr_strays - 1);
		}
	}
	raw_spin_unlock_irqrestore(&strays_lock, flags);
	if (mm)
		mmdrop(mm);
	return mm;
}

/**
 * mtag_stray_forget() - forget the strays of a tree that is being freed
 * @tree:	no longer referenced
 *
 * Context: may sleep.
 */
void mtag_stray_forget(struct mtag_tree *tree)
{
	unsigned long flags;

	if (!has_strays())
		return;
	while (forget_one(tree))
		cond_resched();
	raw_spin_lock_irqsave(&strays_lock, flags);
	WRITE_ONCE(nr_unlisted, nr_unlisted - tree->unlisted);
	raw_spin_unlock_irqrestore(&strays_lock, flags);
}
