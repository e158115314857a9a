// SPDX-License-Identifier: GPL-2.0
/*
 * Strays: processes that were forked from a tree's and could not be tracked. They
 * share pages with their relatives, who have them charged. Should a stray be
 * tracked later its pages become untagged, so its relatives must be counted anew.
 *
 * Few are remembered at a time, in a table that needs no memory when there is
 * none; of more it is known what trees they may concern.
 */
#include <linux/sched/mm.h>
#include "mtag.h"
#include "state.h"
#include "stray.h"

#define STRAYS_MAX 256

/**
 * struct stray - a process that was not tracked when it was forked
 * @mm:		by mmgrab(), so that no other mm takes its address; NULL: a free place
 * @tree:	of its relatives; it has a place only as long as that lives
 */
struct stray {
	struct mm_struct *mm;
	struct mtag_tree *tree;
};

static struct stray strays[STRAYS_MAX];
static unsigned int nr_strays;
static unsigned int nr_unlisted;	/* trees that may have others: mtag_tree.unlisted */
static LIST_HEAD(untaggings);
static DEFINE_RAW_SPINLOCK(strays_lock);	/* all of these; two are read without it */

static bool has_strays(void)
{
	return READ_ONCE(nr_strays) || READ_ONCE(nr_unlisted);
}

/* Context: strays_lock. */
static struct stray *stray_find(const struct mm_struct *mm)
{
	struct stray *each;

	for (each = strays; each < strays + STRAYS_MAX; each++)
		if (each->mm == mm)
			return each;
	return NULL;
}

/* Context: strays_lock. */
static void stray_list(struct mm_struct *mm, struct mtag_tree *tree)
{
	struct stray *stray = stray_find(NULL);

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
 * mtag_stray_add() - a process is not tracked, and shares pages with a tree
 * @mm:		of the process
 * @tree:	that
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
 * mtag_stray_fork() - an untracked process forks: the child of a stray is one, too
 * @parent:	mm
 * @child:	mm
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
 * mtag_stray_end() - a process has no pages any more, or is tracked and counted
 * @mm:		only compared
 *
 * Context: any in which mmdrop() may be called; @mm does not end by it.
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

/* Whose relative is @mm? False: nobody's; @tree NULL: one not listed. Context: strays_lock. */
static bool relatives_of(const struct mm_struct *mm, const struct mtag_tree **tree)
{
	const struct stray *stray = stray_find(mm);

	*tree = stray ? stray->tree : NULL;
	return stray || nr_unlisted;
}

/**
 * mtag_stray_concerns() - the owner of a page of a process changes
 * @mm:		of the process, which is not tracked
 * @tree:	filled, for mtag_space_dirty_tree(): whose spaces may have the page
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
 * mtag_stray_untag_begin() - the pages of a process become untagged from here on
 * @u:		filled; mtag_stray_untag_end() is owed; if it concerns a tree the caller has
 *		mtag_space_dirty_tree() now, and again before the end
 * @mm:		of the process
 *
 * If it is a stray its relatives must be counted anew. Those that end before that have some pages
 * charged otherwise than they are released, and those that are counted meanwhile must be once more.
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

/* They are. Context: any. */
void mtag_stray_untag_end(struct mtag_untagging *u)
{
	unsigned long flags;

	if (!u->concerns)
		return;
	raw_spin_lock_irqsave(&strays_lock, flags);
	list_del(&u->node);
	raw_spin_unlock_irqrestore(&strays_lock, flags);
}

/**
 * mtag_stray_untags() - does a stray of a tree become untagged just now?
 * @tree:	that
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

/* Frees the place of a stray of @tree. False: it has none. */
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
 * mtag_stray_forget() - a tree ends: its strays have no relatives any more
 * @tree:	nobody else has it
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
