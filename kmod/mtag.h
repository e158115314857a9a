/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Overview of mtag, its locks and lifetimes, and definitions shared by all files.
 *
 *   entry.S --> direct.c --> owner.c --> account.c --> report.c --> netlink.c, debugfs.c
 *                  `-> rest.S --> rmap.c --> follow.c, swap.c, ksm.c: the less common page events
 *   hook.c --> rmap.c, where there are no direct calls
 *      `--> life.c (fork, exec, exit), event.c (mmap and friends)
 *
 * Locks, outermost first:
 *
 *   change              one task at a time starts or stops tracking an mm; track.c
 *   track_mutex         mutex: installing and removing the hooks; track.c
 *   tree->build_lock    mutex: one walk, retag or change of tracking in a tree at a time
 *   keep_lock           mutex: making and freeing what is kept to take stacks; stacks.c
 *   mm->mmap_lock       the kernel's
 *   tree->lock          mutex: the tags of a tree, its spaces and their chunks
 *   page-table lock     the kernel's; every rmap hook is called under it
 *   space->walk_lock    raw spinlock: counters, cursor and shadow while a walk runs; a parent's
 *                       before its forked child's
 *   account locks       raw spinlocks: moving counts to the records of accounts; stock.c
 *
 * None of these is taken under the following, which are not taken under each other either:
 *
 *   exec_update_lock    the kernel's, of a process that is looked up; access.c
 *   watch_lock          mutex: the lists of limits; watch.c. Taken under track_mutex at most
 *   sections_lock       mutex: growth of the owner table; owner.c
 *
 * Innermost are spinlocks of one file each. Nothing is allocated or freed under them:
 *
 *   raw, in any hook    mtag_record_lock, hash_lock, dead_lock, strays_lock, holes_lock,
 *                       unused_lock, stack_lock, bell_lock, seen_lock, leavers_lock
 *   plain               images_lock, users_lock and history_lock, also in hooks that may take
 *                       spinlocks (mtag_lock_begin()); batches_lock and change_lock, in process
 *                       context outside of hooks
 *
 * Lifetimes: a space is hashed by its mm from its publication until that mm is
 * about to lose its pages, or has lost them, or is untracked. Until it is
 * dissolved after that, the space holds the mm's structure by mmgrab(), so that
 * no other mm can take its address, even if a hook missed an event. When its last
 * reference is dropped it is freed after a grace period. A hook finds it under
 * RCU: the page-table lock disables preemption, other hooks take a reference. A
 * tree lives as long as a space or a reader refers to it.
 */
#ifndef MTAG_H
#define MTAG_H

#include <linux/gfp_types.h>
#include "../include/uapi/linux/mtag.h"

#undef pr_fmt
#define pr_fmt(fmt) "mtag: " fmt

/*
 * Memory is charged to the memory cgroup of the current task. At its limit the
 * allocation fails: the OOM killer must not kill a task for bookkeeping.
 */
#define MTAG_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
/* As MTAG_GFP, for atomic context. */
#define MTAG_GFP_NOWAIT (GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

#endif /* MTAG_H */
