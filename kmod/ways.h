/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ways by which pages and spaces come and go, driven at load; ways.c.
 */
#ifndef MTAG_WAYS_H
#define MTAG_WAYS_H

#include <linux/completion.h>
#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "account.h"

#define MTAG_WAY_HOOKS	4	/* maximum for one way */

/**
 * struct mtag_drive - the process that is driven
 * @began:	the process runs
 * @task:	its task; reference
 * @losses:	of the module, before the process began
 * @before_fork: hits of the hooks on fork, likewise
 * @s:		its space
 * @exe:	path of the loader's program, or NULL
 * @got:	pages counted at the last check
 * @want:	pages there should have been
 * @kind:	kind of these pages
 * @ret:	result of the whole drive
 * @missing:	ways that do not exist here; bits
 *
 * The loader uses it before it forks the process and after that has exited; in between the process
 * does. @began passes on @task.
 */
struct mtag_drive {
	struct completion began;
	struct task_struct *task;
	u64 losses;
	u64 before_fork[MTAG_WAY_HOOKS];
	struct mtag_space *s;
	const char *exe;
	s64 got, want;
	const char *kind;
	int ret;
	unsigned long missing;
};

#define MTAG_WAY_MISSING	1

/**
 * struct mtag_way - something that the process does
 * @name:	for messages
 * @run:	does it. Returns 0; MTAG_WAY_MISSING if the way does not exist here; -EAGAIN if
 *		the count is wrong; -ENXIO, after a message, for another failure
 * @hooks:	hooks that must have been hit
 */
struct mtag_way {
	const char *name;
	int (*run)(struct mtag_drive *d);
	ftrace_func_t hooks[MTAG_WAY_HOOKS];
};

s64 mtag_ways_count(struct mtag_space *s, enum mtag_kind kind);
u64 mtag_ways_losses(void);
bool mtag_ways_limited(const struct mtag_drive *d);
extern const struct mtag_way mtag_ways[];	/* ended by an empty entry */
int mtag_ways_resolve(void);

#endif /* MTAG_WAYS_H */
