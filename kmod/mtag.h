/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mtag's picture, locks and lifetimes, and what all files share.
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

#include <linux/gfp_types.h>
#include "../include/uapi/linux/mtag.h"

#undef pr_fmt
#define pr_fmt(fmt) "mtag: " fmt

/*
 * What a user causes is charged to his memory cgroup. At its limit it is the
 * call that fails: nothing is killed for the sake of bookkeeping.
 */
#define MTAG_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
/* The same where nobody may sleep. */
#define MTAG_GFP_NOWAIT (GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

#endif /* MTAG_H */
