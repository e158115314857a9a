/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that share pages with a tree and are not tracked; stray.c.
 */
#ifndef MTAG_STRAY_H
#define MTAG_STRAY_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/types.h>

/**
 * struct mtag_untagging - a process is being counted for the first time
 * @node:	in the list of those that concern somebody
 * @tree_id:	whom it concerns; 0: nobody in particular
 * @others:	who else may be concerned, by MTAG_TREE_BIT()
 * @concerns:	it does
 */
struct mtag_untagging {
	struct list_head node;
	u32 tree_id;
	u64 others;
	bool concerns;
};

void mtag_stray_add(struct mm_struct *mm, u32 tree_id);
void mtag_stray_fork(const struct mm_struct *parent, struct mm_struct *child);
void mtag_stray_end(struct mm_struct *mm);
bool mtag_stray_dirty(const struct mm_struct *mm);
void mtag_stray_untag_begin(struct mtag_untagging *u, const struct mm_struct *mm);
void mtag_stray_untag_end(struct mtag_untagging *u);
bool mtag_stray_untags(u32 tree_id);
void mtag_stray_exit(void);

#endif /* MTAG_STRAY_H */
