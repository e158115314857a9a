/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * mtag: the contract between the kernel module and user space.
 *
 * /dev/mtag      ioctls, which act on the calling process or thread; two read others, and one,
 *                MTAG_IOC_UNWIND, serves all processes of the caller's user
 * netlink "mtag" reads and tracks other processes (docs/netlink/mtag.yaml)
 *
 * Sizes are bytes. Every ioctl argument starts with its own size and may only
 * grow at its end: a field that is zero or missing means the old behaviour.
 */
#ifndef _UAPI_LINUX_MTAG_H
#define _UAPI_LINUX_MTAG_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MTAG_DEVICE		"/dev/mtag"
#define MTAG_ABI_VERSION	1

/* Reserved tags, the same in every tree. */
#define MTAG_ID_UNTAGGED	0	/* path "", shown as [untagged] */
#define MTAG_ID_KSM		1	/* path "[ksm]": merged with another tree's page */
#define MTAG_ID_FIRST		2	/* the first that a program can create */
#define MTAG_ID_MAX		0xfffe	/* the last */

#define MTAG_NAME_MAX		63	/* bytes of one component, without the NUL */
#define MTAG_DEPTH_MAX		32	/* components of a path */
#define MTAG_PATH_MAX		2048	/* bytes of a path with its NUL */

/**
 * struct mtag_ioc_attach - MTAG_IOC_ATTACH: track the calling process
 * @size:	in: sizeof(struct mtag_ioc_attach)
 * @flags:	in: MTAG_ATTACH_*
 * @version:	out: MTAG_ABI_VERSION of the module
 * @default_tag: out: the default tag of the process
 *
 * Idempotent. If the process was not tracked before, its present pages become
 * untagged. At most one of the flags; without any, those of an earlier call stay.
 * Errors: EINVAL, E2BIG, EFAULT; ENOMEM; ENOSPC (limit on tracked processes);
 * EBUSY (the hooks cannot be installed); EAGAIN (the process changed too much to
 * be counted, or was untracked meanwhile); EINTR.
 */
struct mtag_ioc_attach {
	__u32 size;
	__u32 flags;
	__u32 version;
	__u32 default_tag;
};

/* From now on tags come by themselves. All survive exec; tags are below the default tag. */
#define MTAG_ATTACH_BY_THREAD	0x1	/* each thread has a tag named after it */
#define MTAG_ATTACH_BY_TID	0x2	/* each thread has a tag of its own, NAME-TID */
#define MTAG_ATTACH_BY_MAP	0x4	/* each mapping's memory has a tag named after it */

/**
 * struct mtag_ioc_thread - MTAG_IOC_THREAD: register where the calling thread keeps its current tag
 * @size:	in: sizeof(struct mtag_ioc_thread)
 * @flags:	in: 0
 * @word:	in: address of a __u32 in private anonymous writable memory, aligned to 4;
 *		0 ends the registration
 * @tag:	out: the thread's current tag, already stored into *word
 * @pad:	0
 *
 * The kernel reads the word whenever the thread touches a page for the first
 * time; the thread changes it by a plain store. A word that holds no tag of
 * this process counts as untagged (and is counted). The registration ends
 * with the thread or at exec; a forked child inherits it for its own copy.
 * Each page with words is pinned and counts towards RLIMIT_MEMLOCK.
 * Errors: EINVAL, E2BIG, EFAULT; ENOMEM, also at that limit; ESRCH (the
 * process is not tracked).
 */
struct mtag_ioc_thread {
	__u32 size;
	__u32 flags;
	__u64 word;
	__u32 tag;
	__u32 pad;
};

/**
 * struct mtag_ioc_child - MTAG_IOC_CHILD: find or create a tag below another
 * @size:	in: sizeof(struct mtag_ioc_child)
 * @flags:	in: 0
 * @parent:	in: tag
 * @name_len:	in: bytes at @name, 1 to MTAG_NAME_MAX, without a NUL
 * @name:	in: pointer to printable UTF-8 without '/'
 * @id:		out: the tag
 * @pad:	0
 *
 * Errors: EINVAL (the name), ENOENT (no such parent), E2BIG, EFAULT, ENOMEM;
 * ENOSPC (too many tags), ENAMETOOLONG (too long a name, too deep a tree);
 * ESRCH (the process is not tracked).
 */
struct mtag_ioc_child {
	__u32 size;
	__u32 flags;
	__u32 parent;
	__u32 name_len;
	__u64 name;
	__u32 id;
	__u32 pad;
};

/**
 * struct mtag_ioc_default - MTAG_IOC_DEFAULT: set the default tag of the process
 * @size:	in: sizeof(struct mtag_ioc_default)
 * @flags:	in: 0
 * @tag:	in: the tag of threads that have none of their own
 * @previous:	out: the previous default tag
 *
 * Errors: EINVAL, E2BIG, EFAULT; ENOENT (no such tag); ESRCH.
 */
struct mtag_ioc_default {
	__u32 size;
	__u32 flags;
	__u32 tag;
	__u32 previous;
};

/**
 * struct mtag_ioc_range - MTAG_IOC_RANGE: give an address range to a tag
 * @size:	in: sizeof(struct mtag_ioc_range)
 * @flags:	in: MTAG_RANGE_*
 * @addr:	in: page-aligned start
 * @len:	in: bytes, rounded up to whole pages
 * @tag:	in: tag
 * @pad:	0
 * @moved:	out: bytes of resident pages that changed owner
 * @kept:	out: bytes of resident anonymous pages that could not (shared with
 *		a forked process, merged by KSM, or locked for longer than a moment);
 *		only with MTAG_RANGE_PRESENT
 *
 * From now on first touches in the range are charged to the tag, whatever the
 * thread's current tag; file and shared memory and the virtual size of the
 * range move to it at once. The range ends when it is mapped again.
 * Errors: EINVAL, E2BIG, EFAULT; ENOENT (no such tag); ENOMEM; ENOSPC (limit
 * on ranges of different tags); EAGAIN, EINTR; ESRCH.
 */
struct mtag_ioc_range {
	__u32 size;
	__u32 flags;
	__u64 addr;
	__u64 len;
	__u32 tag;
	__u32 pad;
	__u64 moved;
	__u64 kept;
};

#define MTAG_RANGE_PRESENT	0x1	/* also move present anonymous pages */

enum {	/* indices, append only; the same order as netlink's "counters" */
	MTAG_C_ANON,		/* bytes resident, anonymous */
	MTAG_C_FILE,		/* bytes resident, files */
	MTAG_C_SHMEM,		/* bytes resident, tmpfs, memfd, SysV and shared anonymous */
	MTAG_C_SWAP,		/* bytes in swap */
	MTAG_C_PEAK,		/* highest anon + file + shmem, slightly too low: see mtag.7 */
	MTAG_C_VIRT,		/* bytes of virtual size */
	MTAG_C_TOUCHED,		/* bytes ever first touched, cumulative */
	MTAG_C_MMAPS,		/* calls, and below their bytes */
	MTAG_C_MUNMAPS,
	MTAG_C_MREMAPS,
	MTAG_C_BRKS,
	MTAG_C_SHMATS,
	MTAG_C_SHMDTS,
	MTAG_C_MMAP_BYTES,
	MTAG_C_MUNMAP_BYTES,
	MTAG_C_MREMAP_BYTES,
	MTAG_C_BRK_BYTES,
	MTAG_C_SHMAT_BYTES,
	MTAG_C_SHMDT_BYTES,
	MTAG_C_NR
};

/**
 * struct mtag_ioc_usage - MTAG_IOC_USAGE: the counters of one tag of the calling process
 * @size:	in: sizeof(struct mtag_ioc_usage)
 * @flags:	in: 0
 * @tag:	in: tag
 * @pad:	0
 * @counters:	out: by MTAG_C_*, self values of this tag, bytes or calls
 *
 * Errors: EINVAL, E2BIG, EFAULT; ENOENT (no such tag); ENOMEM; EAGAIN, EINTR; ESRCH.
 */
struct mtag_ioc_usage {
	__u32 size;
	__u32 flags;
	__u32 tag;
	__u32 pad;
	__u64 counters[19];	/* MTAG_C_NR of version 1 */
};

/**
 * struct mtag_ioc_path - MTAG_IOC_PATH: the path of a tag
 * @size:	in: sizeof(struct mtag_ioc_path)
 * @flags:	in: 0
 * @tag:	in: tag
 * @buf_len:	in: bytes at @buf; out: bytes of the path with its NUL
 * @buf:	in: pointer
 *
 * Errors: EINVAL, E2BIG, EFAULT; ENOENT (no such tag); ERANGE (@buf_len is too
 * small; the size needed is stored there); ENOMEM; ESRCH.
 */
struct mtag_ioc_path {
	__u32 size;
	__u32 flags;
	__u32 tag;
	__u32 buf_len;
	__u64 buf;
};

/**
 * struct mtag_ioc_notify - MTAG_IOC_NOTIFY: be told when a tag reaches a number of bytes
 * @size:	in: sizeof(struct mtag_ioc_notify)
 * @flags:	in: 0
 * @tag:	in: tag
 * @fd:		in: an eventfd
 * @rss_bytes:	in: anon + file + shmem of this tag alone; 0 ends it
 *
 * The event that makes the tag reach it adds 1 to the eventfd; so does this
 * call if it has been reached already. The next time it does so only after
 * the tag has fallen by an eighth (in a large tag it may take a quarter). One
 * number for each pair of tag and eventfd: a new one replaces it. It ends with
 * the last descriptor of the eventfd, and when the process executes another
 * program, ends or is untracked, which adds 1 as well. A forked child has none.
 * Errors: EINVAL (also: no eventfd), E2BIG, EFAULT; EBADF; ENOENT (no such tag;
 * nothing to end); ENOMEM; ENOSPC (64 in this process); ESRCH.
 */
struct mtag_ioc_notify {
	__u32 size;
	__u32 flags;
	__u32 tag;
	__s32 fd;
	__u64 rss_bytes;
};

/**
 * struct mtag_ioc_stacks - MTAG_IOC_STACKS: take user stacks at first touches
 * @size:	sizeof(struct mtag_ioc_stacks)
 * @one_in:	in: of so many first touches one is sampled; 1: all
 * @fd:		in: an eventfd that is signalled when a file becomes mapped executable,
 *		or -1
 * @pad:	0
 *
 * From now on, in the calling process, which must be tracked, in its future
 * children, and in itself after exec.
 * Errors: EINVAL, E2BIG, EFAULT; EBADF; ENOMEM; EAGAIN, EINTR; ESRCH.
 */
struct mtag_ioc_stacks {
	__u32 size;
	__u32 one_in;
	__s32 fd;
	__u32 pad;
};

/**
 * struct mtag_ioc_unwind - MTAG_IOC_UNWIND: hand in the unwind table of a file
 * @size:	sizeof(struct mtag_ioc_unwind)
 * @fd:		in: the file, opened for reading; -1: the vdso, from root only
 * @table:	in: address of the table: linux/mtag_unwind.h
 * @bytes:	in: its size
 *
 * By it the stacks of the caller's own processes are walked; by root's, those of
 * all. Any process may do this while the stacks of some process are taken.
 * Errors: EINVAL, it is no such table; E2BIG; EEXIST, there is one; ENODATA, no stacks are
 * taken; EBADF, EFAULT; EPERM; ENOMEM, ENOSPC, there is no room.
 */
struct mtag_ioc_unwind {
	__u32 size;
	__s32 fd;
	__u64 table;
	__u64 bytes;
};

/**
 * struct mtag_ioc_heap - MTAG_IOC_HEAP: register where the process keeps its view of its heap
 * @size:	in: sizeof(struct mtag_ioc_heap)
 * @flags:	in: 0, or MTAG_HEAP_ASK: @tag is wanted, and both fields below are 0; with that
 *		perhaps MTAG_HEAP_STACK: @stack is wanted, too
 * @address:	in: page-aligned start of the area; 0: there is none any more;
 *		out, if MTAG_HEAP_ASK: of the calling thread's word, or 0
 * @length:	in: bytes, whole pages, at most MTAG_HEAP_MAX; 0 if @address is 0
 * @tag:	out: the calling thread's current tag, as a first touch would be charged
 * @stack:	in: 0; out, if MTAG_HEAP_STACK: the number of the stack from which the thread makes
 *		this call, or MTAG_HEAP_NO_STACK if there is no room for one more; 0 if no stacks
 *		are taken (MTAG_IOC_STACKS)
 *
 * The kernel keeps address and length for MTAG_IOC_HEAP_READ, and looks at nothing there. A
 * forked child has an area at the same place; exec forgets it.
 *
 * MTAG_CMD_STACK_GET with STACK_NAMED says which stack a number means, as long as the process is
 * tracked. A forked child knows the numbers that its parent was told before; others mean nothing.
 * Errors: EINVAL, E2BIG, EFAULT; ESRCH (the process is not tracked).
 */
struct mtag_ioc_heap {
	__u32 size;
	__u32 flags;
	__u64 address;
	__u64 length;
	__u32 tag;
	__u32 stack;
};

#define MTAG_HEAP_ASK	0x1
#define MTAG_HEAP_STACK	0x2
#define MTAG_HEAP_NO_STACK	1	/* numbers of stacks are larger */
#define MTAG_HEAP_MAX	(1ULL << 33)	/* 8 GiB, most of which need not be there */

/**
 * struct mtag_ioc_heap_read - MTAG_IOC_HEAP_READ: copy from the area of a process
 * @size:	in: sizeof(struct mtag_ioc_heap_read)
 * @flags:	in: 0
 * @pid:	in: the process; 0: the caller's own
 * @pad:	0
 * @offset:	in: where to begin in the area; may be its end
 * @length:	in: bytes at @buffer; out: bytes copied, fewer at the end of the area
 * @buffer:	in: pointer
 * @address:	out: start of the area in the process
 * @total:	out: bytes of the area
 *
 * A page of the area that was never touched reads as zeros, and stays absent: reading
 * does not change the RSS of the process, except that pages in swap come in. The
 * process goes on meanwhile, so what it changes may be read half-changed.
 * Errors: EINVAL (also: @offset beyond the area), E2BIG, EFAULT; ESRCH (no such process,
 * or not tracked); EACCES (the caller may not read its smaps); ENODATA (it has no area);
 * ENXIO (there is no private anonymous memory that it may read itself); EIO (a page is
 * lost); EINTR; ENOMEM.
 */
struct mtag_ioc_heap_read {
	__u32 size;
	__u32 flags;
	__u32 pid;
	__u32 pad;
	__u64 offset;
	__u64 length;
	__u64 buffer;
	__u64 address;
	__u64 total;
};

/**
 * struct mtag_ioc_span - a range of pages for MTAG_IOC_OWNERS
 * @start:	page-aligned address
 * @end:	exclusive, page-aligned
 */
struct mtag_ioc_span {
	__u64 start;
	__u64 end;
};

/**
 * struct mtag_ioc_owners - MTAG_IOC_OWNERS: which pages are there, and whose are they?
 * @size:	in: sizeof(struct mtag_ioc_owners)
 * @flags:	in: 0
 * @pid:	in: the process; 0: the caller's own
 * @nr_spans:	in: elements at @spans
 * @spans:	in: pointer to struct mtag_ioc_span, not empty, in any order
 * @pages:	in: pointer to a __u32 for each page: MTAG_OWNER_*
 * @room:	in: elements at @pages
 * @filled:	out: of them filled, at most MTAG_OWNERS_MAX in one call
 * @span:	in, out: index of the span to begin with; @nr_spans: all is done
 * @pad:	0
 * @next:	in, out: address to begin at in that span; 0: its start
 *
 * Begin with @span and @next 0, and call again with what came back until @span is
 * @nr_spans. Each batch of pages is what the page tables said at one moment. hugetlb
 * is no part of RSS, and absent.
 * Errors: EINVAL, E2BIG, EFAULT; ESRCH (no such process, or not tracked); EACCES (the
 * caller may not read its smaps); EINTR; ENOMEM.
 */
struct mtag_ioc_owners {
	__u32 size;
	__u32 flags;
	__u32 pid;
	__u32 nr_spans;
	__u64 spans;
	__u64 pages;
	__u32 room;
	__u32 filled;
	__u32 span;
	__u32 pad;
	__u64 next;
};

#define MTAG_OWNERS_MAX		(1U << 20)

#define MTAG_OWNER_TAG		0xffffU	/* the tag it is charged to, if present or in swap */
#define MTAG_OWNER_PRESENT	0x10000	/* resident; none of these three: absent */
#define MTAG_OWNER_SWAP		0x20000	/* in swap */
#define MTAG_OWNER_ZERO		0x40000	/* the shared zero page, which is no part of RSS */
#define MTAG_OWNER_FILE		0x80000	/* resident, of a file or shared memory */

/**
 * struct mtag_stack_frame - a frame of a stack: an element of MTAG_A_STACK_FRAMES
 * @offset:	in the file; the address if the image is anonymous memory
 * @image:	IMAGE_ID of a MTAG_A_STACK_IMAGE
 * @flags:	MTAG_STACK_EXACT
 */
struct mtag_stack_frame {
	__u64 offset;
	__u32 image;
	__u32 flags;
};

#define MTAG_STACK_EXACT	0x1	/* the instruction itself, not a return address */

enum mtag_stack_kind {	/* append only */
	MTAG_STACK_TAKEN,	/* there are frames */
	MTAG_STACK_NONE,	/* touched before stacks were taken, or the stack was lost */
	MTAG_STACK_KERNEL,	/* touched for the process by somebody else, or in exec */
	MTAG_STACK_UNSAMPLED,	/* not the one of one_in */
};

enum mtag_stack_why {	/* why the walk ended; append only */
	MTAG_STACK_COMPLETE,	/* at the outermost frame */
	MTAG_STACK_NO_TABLE,	/* no unwind table and no usable frame pointer */
	MTAG_STACK_ABSENT,	/* a page of the stack was not present */
	MTAG_STACK_DEEP,	/* too many frames */
	MTAG_STACK_NO_EXEC,	/* a return address outside executable memory */
};

/* No size in the numbers: the structs carry their own. */
#define MTAG_IOC_MAGIC		0xb6
#define MTAG_IOC_ATTACH		_IO(MTAG_IOC_MAGIC, 0x40)
#define MTAG_IOC_THREAD		_IO(MTAG_IOC_MAGIC, 0x41)
#define MTAG_IOC_CHILD		_IO(MTAG_IOC_MAGIC, 0x42)
#define MTAG_IOC_DEFAULT	_IO(MTAG_IOC_MAGIC, 0x43)
#define MTAG_IOC_RANGE		_IO(MTAG_IOC_MAGIC, 0x44)
#define MTAG_IOC_USAGE		_IO(MTAG_IOC_MAGIC, 0x45)
#define MTAG_IOC_PATH		_IO(MTAG_IOC_MAGIC, 0x46)
#define MTAG_IOC_NOTIFY		_IO(MTAG_IOC_MAGIC, 0x47)
#define MTAG_IOC_STACKS		_IO(MTAG_IOC_MAGIC, 0x48)
#define MTAG_IOC_UNWIND		_IO(MTAG_IOC_MAGIC, 0x49)
#define MTAG_IOC_HEAP		_IO(MTAG_IOC_MAGIC, 0x4a)
#define MTAG_IOC_HEAP_READ	_IO(MTAG_IOC_MAGIC, 0x4b)
#define MTAG_IOC_OWNERS		_IO(MTAG_IOC_MAGIC, 0x4c)

/* Generic netlink; docs/netlink/mtag.yaml describes the family. */
#define MTAG_GENL_NAME		"mtag"
#define MTAG_GENL_VERSION	1
#define MTAG_GENL_MCGRP_EVENTS	"events"

enum {
	MTAG_CMD_UNSPEC,
	MTAG_CMD_INFO_GET,	/* do: version, mode and health of the module */
	MTAG_CMD_PROC_GET,	/* do with PROC_PID, dump: one message a process */
	MTAG_CMD_TAG_GET,	/* dump, with PROC_PID or without: PROC_PID and TAGs */
	MTAG_CMD_TRACK,		/* do with PROC_PID */
	MTAG_CMD_UNTRACK,	/* do with PROC_PID */
	MTAG_CMD_AUDIT,		/* do with PROC_PID: walk its page tables and compare */
	MTAG_CMD_RESET,		/* do with PROC_PID: restart peaks from now */
	MTAG_CMD_EVENT,		/* multicast */
	MTAG_CMD_LIMIT,		/* do with PROC_PID, TAG_ID, LIMIT_BYTES, LIMIT_FD */
	MTAG_CMD_PSS_GET,	/* dump, as TAG_GET, with TAG_SHARES; walks the page tables */
	MTAG_CMD_HISTORY_GET,	/* dump: the processes that ended, oldest first */
	MTAG_CMD_HISTORY_CLEAR,	/* do: forget them; needs CAP_SYS_ADMIN */
	MTAG_CMD_STACK_START,	/* do with PROC_PID, STACK_ONE_IN, perhaps STACK_FD */
	MTAG_CMD_STACK_GET,	/* dump with PROC_PID, perhaps STACK_OLDER; walks the page tables */
	__MTAG_CMD_MAX
};

#define MTAG_CMD_MAX (__MTAG_CMD_MAX - 1)

enum {
	MTAG_A_UNSPEC,
	MTAG_A_PAD,
	MTAG_A_PROC_PID,	/* u32, in the reader's pid namespace; in events, the first one */
	MTAG_A_PROC_COMM,	/* string */
	MTAG_A_PROC_TAGS,	/* u32, tags of the process's tree, untagged and [ksm] included */
	MTAG_A_PROC_ANON,	/* u64 bytes, sums over all tags from here … */
	MTAG_A_PROC_FILE,
	MTAG_A_PROC_SHMEM,
	MTAG_A_PROC_SWAP,
	MTAG_A_PROC_VIRT,	/* … to here */
	MTAG_A_PROC_LOST,	/* u64, events that could not be recorded */
	MTAG_A_PROC_OVERFLOW,	/* u64, tags refused by a limit, charged to their parent */
	MTAG_A_PROC_REPAIRS,	/* u64, walks that repaired the counters */
	MTAG_A_TAG,		/* nest of TAG_*, many in one message */
	MTAG_A_TAG_ID,		/* u16 */
	MTAG_A_TAG_PARENT,	/* u16; absent: a root */
	MTAG_A_TAG_NAME,	/* string, the last component; "" for untagged */
	MTAG_A_TAG_COUNTERS,	/* binary, array of u64 by MTAG_C_*; longer in later versions */
	MTAG_A_AUDIT_KERNEL_RSS, /* u64 bytes, the kernel's own counters */
	MTAG_A_AUDIT_WALKED,	/* u64 bytes, present in the page tables */
	MTAG_A_AUDIT_ACCOUNTED,	/* u64 bytes, sum over tags */
	MTAG_A_AUDIT_DRIFT,	/* u64 pages, sum over tags and kinds of |counted - walked| */
	MTAG_A_AUDIT_MIGRATING,	/* u64 pages charged to no tag while they migrate */
	MTAG_A_INFO_VERSION,	/* string, of the module */
	MTAG_A_INFO_MODE,	/* string, "ftrace" or "kprobes" */
	MTAG_A_INFO_INSTALLED,	/* u32, 1 while the hooks are installed */
	MTAG_A_INFO_PROCS,	/* u32, processes tracked now */
	MTAG_A_INFO_ENDED,	/* u64, spaces that died, all checked */
	MTAG_A_INFO_DRIFT,	/* u64 pages, left over in spaces that died */
	MTAG_A_INFO_LOST,	/* u64 */
	MTAG_A_INFO_OVERFLOW,	/* u64 */
	MTAG_A_INFO_REPAIRS,	/* u64 */
	MTAG_A_INFO_MEMORY,	/* u64 bytes that the module holds */
	MTAG_A_EVENT_KIND,	/* string: "track", "untrack", "exit", "overflow", "limit" */
	MTAG_A_EVENT_TAG,	/* string, path of the tag that reached its limit */
	MTAG_A_LIMIT_BYTES,	/* u64 bytes */
	MTAG_A_LIMIT_FD,	/* u32, an eventfd of the sender */
	MTAG_A_TAG_SHARES,	/* binary, array of u64 by MTAG_S_*; longer in later versions */
	MTAG_A_HISTORY_ID,	/* u64, ascending; the same in all messages of a process */
	MTAG_A_HISTORY_ENDED,	/* u64, nanoseconds since 1970 */
	MTAG_A_HISTORY_RAN,	/* u64, nanoseconds from its fork to its end */
	MTAG_A_HISTORY_STATUS,	/* u32, as wait(2) gives it */
	MTAG_A_HISTORY_OOM,	/* flag: the OOM killer killed it, and found it alive */
	MTAG_A_HISTORY_REAPED,	/* flag: its memory was being taken away before it ended */
	MTAG_A_HISTORY_INEXACT,	/* flag: an event was missed, and no walk has repaired that */
	MTAG_A_HISTORY_PEAK,	/* u64 bytes, the highest RSS of the process */
	MTAG_A_HISTORY_OTHERS,	/* u32, tags left out for lack of room, of the lowest peaks */
	MTAG_A_HISTORY_OTHERS_COUNTERS, /* binary, their sums and highest peak, by MTAG_C_* */
	MTAG_A_TAG_PATH,	/* string, the whole path; "" for untagged */
	MTAG_A_INFO_HISTORY,	/* u32, ended processes that are remembered */
	MTAG_A_INFO_HISTORY_DROPPED, /* u64, forgotten to stay within history_kb */
	MTAG_A_INFO_HISTORY_LOST, /* u64, not remembered for lack of memory */
	MTAG_A_STACK_ONE_IN,	/* u32, of so many first touches one is sampled; absent: varied */
	MTAG_A_STACK_FD,	/* u32, an eventfd of the sender */
	MTAG_A_STACK_OLDER,	/* u32 seconds: only pages first touched at least so long ago */
	MTAG_A_STACK_IMAGE,	/* nest of IMAGE_*, before the stacks that refer to it */
	MTAG_A_IMAGE_ID,	/* u32 */
	MTAG_A_IMAGE_PATH,	/* string, or "[vdso]", "[anon]" */
	MTAG_A_IMAGE_BUILD_ID,	/* binary; not sent by version 0.1 */
	MTAG_A_STACK,		/* nest of TAG_ID and STACK_*, many in one message */
	MTAG_A_STACK_ANON,	/* u64 bytes resident, anonymous */
	MTAG_A_STACK_SWAP,	/* u64 bytes in swap */
	MTAG_A_STACK_TOUCHED,	/* u64 bytes ever first touched; absent: unknown */
	MTAG_A_STACK_KIND,	/* u32, enum mtag_stack_kind */
	MTAG_A_STACK_WHY,	/* u32, enum mtag_stack_why */
	MTAG_A_STACK_FRAMES,	/* binary, array of struct mtag_stack_frame, innermost first */
	MTAG_A_STACK_LOST,	/* u64, first touches that found no room; in the last message */
	MTAG_A_STACK_UNCOUNTED,	/* u64 bytes ever first touched that no TOUCHED has; likewise */
	MTAG_A_TAG_BRIEF,	/* flag, in a request: TAG_COUNTERS leave out zeros at their end */
	MTAG_A_STACK_NAMED,	/* flag, in a request: STACKs with a STACK_NUMBER are wanted, too */
	MTAG_A_STACK_NUMBER,	/* u32, as MTAG_IOC_HEAP told it; instead of TAG_ID and bytes */
	__MTAG_A_MAX
};

#define MTAG_A_MAX (__MTAG_A_MAX - 1)

enum {	/* indices of MTAG_A_TAG_SHARES, append only */
	MTAG_S_USS,		/* bytes of pages that only this process maps, and once */
	MTAG_S_PSS,		/* bytes of all pages, each divided by the number of its mappings */
	MTAG_S_NR
};

#endif /* _UAPI_LINUX_MTAG_H */
