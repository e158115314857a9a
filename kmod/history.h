/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ledger of processes that ended; history.c.
 */
#ifndef MTAG_HISTORY_H
#define MTAG_HISTORY_H

#include <linux/capability.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mmzone.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include "account.h"

struct pid;
struct user_namespace;

/* Entries are allocated where waiting is not always possible: none has more bytes than this. */
#define MTAG_PAST_MOST	(PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER)

/**
 * struct mtag_last - the last numbers of a tag or a process, in pages
 * @nr:		by kind
 * @peak:	highest anon + file + shmem
 */
struct mtag_last {
	u64 nr[MTAG_KINDS];
	u64 peak;
};

/**
 * struct mtag_past_tag - a tag of an ended process
 * @last:	its numbers
 * @id:		the tag
 * @size:	bytes of @path with its NUL
 * @path:	the whole path, or what stands for it
 */
struct mtag_past_tag {
	struct mtag_last last;
	u16 id;
	u16 size;
	char path[];
};

/**
 * struct mtag_past - an ended process; constant once it is in the ledger
 * @ref:	held by the ledger and by readers
 * @order:	in the ledger, by @id; the ledger's lock
 * @sort:	in the list of its sort, by @id; the ledger's lock
 * @listed:	in the ledger; the ledger's lock
 * @bytes:	of memory
 * @id:		ascending
 * @ended:	nanoseconds since 1970
 * @ran:	nanoseconds since its fork
 * @nr:		pid in the initial namespace
 * @pid:	reference; NULL if it had a pid in the initial namespace only
 * @uid:	user who may read it without a capability: the thread group leader's; invalid if
 *		there is none
 * @gid:	group that this needs, too
 * @caps:	capabilities that this needs, too
 * @user_ns:	whose CAP_SYS_PTRACE allows reading it; reference
 * @comm:	name of the thread group leader
 * @status:	as wait(2) gives it
 * @oom:	the OOM killer killed it, and found it alive
 * @reaped:	its memory was being taken away before the numbers were read
 * @inexact:	an event was missed before
 * @lost:	counter of the space
 * @overflow:	likewise
 * @repairs:	likewise
 * @total:	sums over all tags; the peak is that of the process
 * @others:	sums over the tags that are not in @tags; the highest of their peaks
 * @nr_others:	how many these are
 * @nr_tags:	in @tags
 * @used:	bytes of @tags
 * @tags:	struct mtag_past_tag, each at a multiple of 8 bytes
 */
struct mtag_past {
	struct kref ref;
	struct list_head order;
	struct list_head sort;
	bool listed;
	size_t bytes;
	u64 id;
	u64 ended, ran;
	pid_t nr;
	struct pid *pid;
	kuid_t uid;
	kgid_t gid;
	kernel_cap_t caps;
	struct user_namespace *user_ns;
	char comm[TASK_COMM_LEN];
	u32 status;
	bool oom, reaped, inexact;
	u64 lost, overflow, repairs;
	struct mtag_last total;
	struct mtag_last others;
	unsigned int nr_others;
	unsigned int nr_tags;
	size_t used;
	u8 tags[] __aligned(8);
};

/* The bytes that a tag takes whose path has @size bytes with its NUL. */
static inline size_t mtag_past_tag_bytes(size_t size)
{
	return ALIGN(sizeof(struct mtag_past_tag) + size, 8);
}

int mtag_history_open(void);
void mtag_history_close(void);
bool mtag_history_wanted(void);
size_t mtag_history_room(void);
void mtag_history_lost(void);
struct mtag_past *mtag_history_alloc(size_t room, gfp_t gfp);
void mtag_history_add(struct mtag_past *p);
void mtag_history_put(struct mtag_past *p);
struct mtag_past *mtag_history_next(struct mtag_past *prev);
void mtag_history_clear(void);

#endif /* MTAG_HISTORY_H */
