/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What presents the numbers: interfaces between report.c, access.c, netlink.c,
 * debugfs.c, chardev.c and main.c.
 */
#ifndef MTAG_PRESENT_H
#define MTAG_PRESENT_H

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include "mtag.h"

/* ---- access.c: whose memory it is, and who may see it ---- */

enum mtag_access {
	MTAG_ACCESS_LIST,	/* as READ, but a refusal is nothing to audit */
	MTAG_ACCESS_READ,	/* what /proc/PID/smaps needs */
	MTAG_ACCESS_TRACK,	/* READ, and CAP_SYS_PTRACE over it */
};

/**
 * struct mtag_process - a process as its reader knows it
 * @pid:	in the reader's pid namespace
 * @comm:	of its first thread
 */
struct mtag_process {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct mtag_target - a process that a reader asked for
 * @task:	a thread of it; reference
 * @mm:		reference
 * @space:	reference; NULL when it is not tracked
 * @process:	its name
 */
struct mtag_target {
	struct task_struct *task;
	struct mm_struct *mm;
	struct mtag_space *space;
	struct mtag_process process;
};

int mtag_access_init(void);
void mtag_access_exit(void);
bool mtag_access_may_read(struct task_struct *task);
bool mtag_access_may_track(struct task_struct *task);
struct mm_struct *mtag_access_mm(struct task_struct *task, enum mtag_access access,
				 const struct cred *opener);
kuid_t mtag_access_uid(struct mm_struct *mm);
struct task_struct *mtag_access_owner(struct mtag_space *s);
bool mtag_access_name(struct task_struct *task, struct pid_namespace *ns, struct mtag_process *p);
int mtag_access_get(struct mtag_target *t, pid_t nr, enum mtag_access access,
		    const struct cred *opener);
void mtag_access_put(struct mtag_target *t);

/* ---- report.c ---- */

/**
 * struct mtag_row - one tag of a report
 * @id:		the tag
 * @parent:	id; 0 for a first-level tag
 * @name:	last component of its path
 * @counters:	by MTAG_C_*, bytes and calls
 */
struct mtag_row {
	u32 id;
	u32 parent;
	char name[MTAG_NAME_MAX + 1];
	u64 counters[MTAG_C_NR];
};

bool mtag_report_row(const struct mtag_report *r, u32 tag, struct mtag_row *row);
int mtag_report_one(struct mtag_space *s, u32 tag, u64 *counters);

/* ---- netlink.c, notify.c, debugfs.c, chardev.c ---- */
int mtag_netlink_init(void);
void mtag_netlink_exit(void);
int mtag_debugfs_init(void);
void mtag_debugfs_exit(void);
int mtag_chardev_init(void);
void mtag_chardev_exit(void);

#endif /* MTAG_PRESENT_H */
