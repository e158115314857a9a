/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classification of page events by their caller; caller.c.
 */
#ifndef MTAG_CALLER_H
#define MTAG_CALLER_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/ibt.h>

/* The class of a page event, known from its caller. */
enum mtag_caller {
	MTAG_BY_OTHER,		/* nothing special: first touch, or the end of a mapping */
	MTAG_BY_FAULT,		/* first touch by the fault handler: the most common */
	MTAG_BY_TOUCH,		/* first touch of another kind */
	MTAG_BY_MAP,		/* first touch by the fault handler, or a collapse */
	MTAG_BY_ZAP,		/* munmap, exit, truncation */
	MTAG_BY_FLUSH,		/* likewise, of a file, told when CPUs can no longer write there */
	MTAG_BY_COPY,		/* copy-on-write: adds the copy, then removes the original */
	MTAG_BY_REPLACE,	/* uprobes: likewise */
	MTAG_BY_SWAPIN,		/* do_swap_page(), swapoff */
	MTAG_BY_UNMAP,		/* reclaim */
	MTAG_BY_MIGRATE,	/* migration takes the page away … */
	MTAG_BY_RESTORE,	/* … and brings it back */
	MTAG_BY_COLLAPSE,	/* small pages into a huge one */
	MTAG_BY_FORK,		/* a pinned page is copied to the child */
	MTAG_BY_SPLIT,		/* a huge page is split for migration */
	MTAG_BY_KSM,		/* merging */
	MTAG_BY_LAZYFREE,	/* madvise(MADV_FREE) frees swap entries */
	MTAG_BY_SHMEM,		/* shared memory frees its own, which no process is charged for */
	MTAG_BY_MMAP,		/* a mapping is made */
	MTAG_BY_MREMAP,		/* a mapping grows in place */
	MTAG_BY_MPROTECT,	/* the protection of a mapping changes */
};

/**
 * struct mtag_caller_name - a function that calls hooked ones
 * @name:	name of the function
 * @caller:	class of its events
 * @part:	the function is optional: most compilers inline it into another one of
 *		the table
 */
struct mtag_caller_name {
	const char *name;
	enum mtag_caller caller;
	bool part;
};

/* Return addresses of the most common callers; 0 until the first call. */
extern unsigned long mtag_fault_ip, mtag_zap_ip, mtag_huge_fault_ip, mtag_huge_zap_ip;
extern unsigned long mtag_map_ip, mtag_unmap_ip;	/* pages of files */
extern unsigned long mtag_copy_ip, mtag_copied_ip;	/* copy-on-write: the copy; the original */

void mtag_caller_learn_first(unsigned long *common, unsigned long ip);

/* Remembers @ip as one of the most common callers above, unless one is known. */
static inline void mtag_caller_learn(unsigned long *common, unsigned long ip)
{
	if (unlikely(!READ_ONCE(*common)))
		mtag_caller_learn_first(common, ip);
}

enum mtag_caller __noendbr mtag_caller_of(unsigned long parent_ip);
int mtag_caller_init(const struct mtag_caller_name *c);

#endif /* MTAG_CALLER_H */
