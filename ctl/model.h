/* SPDX-License-Identifier: GPL-2.0 */
/* What mtagctl knows of processes and tags. */
#ifndef MTAGCTL_MODEL_H
#define MTAGCTL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "heaps/heap.h"
#include "stacks/stack.h"
#include "uapi/linux/mtag.h"

/**
 * struct tag - a tag of a process
 * @id:		the kernel's
 * @parent_id:	as received, MTAG_ID_UNTAGGED for a top-level tag
 * @parent:	index in the process's tags, -1 for a top-level tag; by snap_finish()
 * @depth:	components of the path; by snap_finish()
 * @name:	last component
 * @path:	by snap_finish()
 * @c:		self values by MTAG_C_*; 0 where an older kernel has none
 * @total_rss:	RSS of the tag and of all below it; by snap_finish()
 * @frame:	no tag, but a frame of a stack beneath one; its @id and @parent_id mean nothing
 * @file:	of a frame: its source, where that matters and is known, else NULL
 * @line:	likewise: in @file, else 0
 * @module:	of a frame without a function, the file that it is in, where that matters and is known, else NULL
 * @build_id:	its; likewise
 * @address:	in it, as its own headers count
 * @shares:	@s is known, because somebody asked for it
 * @s:		self values by MTAG_S_*
 * @total_s:	@s of the tag and of all below it; by snap_finish()
 */
struct tag {
	uint16_t id;
	uint16_t parent_id;
	int parent;
	unsigned int depth;
	char *name;
	char *path;
	uint64_t c[MTAG_C_NR];
	uint64_t total_rss;
	bool frame;
	char *file;
	unsigned int line;
	char *module;
	char *build_id;
	uint64_t address;
	bool shares;
	uint64_t s[MTAG_S_NR];
	uint64_t total_s[MTAG_S_NR];
};

/**
 * struct proc - a process
 * @comm:	any bytes except NUL
 * @cgroup:	path of its cgroup v2, likewise; NULL while it is unknown
 * @tags:	ascending by id after snap_finish()
 * @order:	indices of @tags, depth first, siblings by id; by snap_finish()
 * @shares:	those of all tags are known; by snap_finish()
 * @s:		sums of them by MTAG_S_*; by snap_finish()
 * @stacks:	NULL if none are taken of it, or nobody asked for them
 * @heap:	NULL if it has no heap view, or nobody asked for that
 */
struct proc {
	pid_t pid;
	char *comm;
	char *cgroup;
	struct tag *tags;
	size_t n_tags;
	size_t room;
	size_t *order;
	uint64_t rss;
	bool shares;
	uint64_t s[MTAG_S_NR];
	struct stacks *stacks;
	struct heap_view *heap;
	uint64_t lost;
	uint64_t overflow;
	uint64_t repairs;
};

struct snap {
	struct proc *procs; /* ascending by pid after snap_finish() */
	size_t n_procs;
	size_t room;
	uint64_t time_ms; /* when it was so, since 1970; 0 if nobody said */
};

struct audit {
	pid_t pid;
	char comm[64];
	uint64_t kernel_rss, walked, accounted; /* bytes */
	uint64_t drift, migrating;		/* pages */
	uint64_t lost, overflow;
};

struct info {
	char version[64];
	char mode[32];
	uint32_t installed, procs;
	uint64_t ended, drift, lost, overflow, repairs, memory;
	uint32_t history;
	uint64_t history_dropped, history_lost;
};

/**
 * struct event - what the module tells its listeners
 * @kind:	"track", "untrack", "exit", "overflow", "limit"; "overrun": some were missed
 * @tag:	path of the tag that reached its limit; else ""
 * @limit:	the limit, bytes
 * @caught_up:	not told when it happened: the process was found in a list
 */
struct event {
	char kind[16];
	pid_t pid;
	char comm[64];
	char tag[MTAG_PATH_MAX];
	uint64_t limit;
	bool caught_up;
};

/* Out of memory, all return NULL or -ENOMEM and leave the snapshot valid. */
struct proc *snap_proc(struct snap *snap, pid_t pid, const char *comm);
/* Likewise for a process that is not in the snapshot yet, which the caller knows. */
struct proc *snap_add_proc(struct snap *snap, pid_t pid, const char *comm);
/* Moves a process of another snapshot to the end of this one; what is left there is empty. */
struct proc *snap_move_proc(struct snap *snap, struct proc *proc);
int proc_set_cgroup(struct proc *proc, const char *path);
/* Its stacks, none if it had not any. NULL without memory. */
struct stacks *proc_stacks(struct proc *proc);
/* Likewise its heap. */
struct heap_view *proc_heap(struct proc *proc);
struct tag *proc_add_tag(struct proc *proc, uint16_t id, uint16_t parent, const char *name);
/*
 * A frame @name beneath the tag or frame with the index @parent, or with -1 the process. Those of a process are
 * added when it is finished, which proc_finish_frames() then is again.
 */
struct tag *proc_add_frame(struct proc *proc, int parent, const char *name);
int proc_finish_frames(struct proc *proc);
bool snap_has_frames(const struct snap *snap);
/* Sorts, drops duplicates, and computes paths, totals and orders. */
int snap_finish(struct snap *snap);
void snap_clear(struct snap *snap);
/* Orders the tags into @out[n_tags]: depth first, siblings with the largest total first. */
int proc_order_by_size(const struct proc *proc, size_t *out);

const struct tag *proc_find_tag(const struct proc *proc, uint16_t id);
const struct tag *proc_find_path(const struct proc *proc, const char *path);
/* "" if it is unknown. */
const char *proc_cgroup(const struct proc *proc);
uint64_t tag_rss(const struct tag *tag);
/* False only for an empty [ksm]. */
bool tag_is_shown(const struct tag *tag);
void proc_sum(const struct proc *proc, uint64_t sum[MTAG_C_NR]);

#endif
