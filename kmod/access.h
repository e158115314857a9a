/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lookup of processes, and checks of access to them; access.c.
 */
#ifndef MTAG_ACCESS_H
#define MTAG_ACCESS_H

#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include "state.h"

struct mtag_past;

enum mtag_access {
	MTAG_ACCESS_LIST,	/* as READ, but a refusal is not audited */
	MTAG_ACCESS_READ,	/* as for reading /proc/PID/smaps */
	MTAG_ACCESS_TRACK,	/* READ, and CAP_SYS_PTRACE over the process */
};

/**
 * struct mtag_process - a process as the reader sees it
 * @pid:	in the reader's pid namespace
 * @comm:	name of the thread group leader
 */
struct mtag_process {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct mtag_target - the process that a request names
 * @task:	a thread of it; reference
 * @mm:		its mm; reference
 * @cred:	its credentials when the access was checked; reference
 * @space:	its space, or NULL if it is not tracked; reference
 * @process:	its pid and name
 */
struct mtag_target {
	struct task_struct *task;
	struct mm_struct *mm;
	const struct cred *cred;
	struct mtag_space *space;
	struct mtag_process process;
};

int mtag_access_init(void);
struct mm_struct *mtag_access_mm(struct task_struct *task, enum mtag_access access,
				 const struct cred *opener, const struct cred **cred);
kuid_t mtag_access_uid(struct mm_struct *mm);
struct task_struct *mtag_access_owner(struct mtag_space *s);
bool mtag_access_name(struct task_struct *task, struct pid_namespace *ns, struct mtag_process *p);
int mtag_access_get(struct mtag_target *t, pid_t nr, enum mtag_access access,
		    const struct cred *opener);
void mtag_access_put(struct mtag_target *t);
bool mtag_access_may_recall(const struct mtag_past *p, const struct cred *opener);

#endif /* MTAG_ACCESS_H */
