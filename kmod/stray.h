/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Untracked processes that share pages with a tree; stray.c.
 */
#ifndef MTAG_STRAY_H
#define MTAG_STRAY_H

#include <linux/list.h>
#include <linux/types.h>

struct mm_struct;
struct mtag_tree;

/**
 * struct mtag_untagging - a process being counted for the first time
 * @node:	in the list of those with @concerns; strays_lock. The others are constant in there
 * @tree:	tree of its relatives, only compared; NULL: any tree that may have unlisted strays
 * @concerns:	a tracked process may share its pages
 */
struct mtag_untagging {
	struct list_head node;
	const struct mtag_tree *tree;
	bool concerns;
};

void mtag_stray_add(struct mm_struct *mm, struct mtag_tree *tree);
void mtag_stray_fork(const struct mm_struct *parent, struct mm_struct *child);
void mtag_stray_end(struct mm_struct *mm);
bool mtag_stray_concerns(const struct mm_struct *mm, const struct mtag_tree **tree);
void mtag_stray_untag_begin(struct mtag_untagging *u, const struct mm_struct *mm);
void mtag_stray_untag_end(struct mtag_untagging *u);
bool mtag_stray_has(const struct mtag_tree *tree);
bool mtag_stray_untags(const struct mtag_tree *tree);
void mtag_stray_forget(struct mtag_tree *tree);

#endif /* MTAG_STRAY_H */
