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

struct mtag_space;

#define MTAG_WAY_HOOKS	4	/* at most, of one way */

/**
 * struct mtag_drive - the process that is driven
 * @began:	it runs
 * @task:	of it; reference
 * @losses:	of the module, before it began
 * @before_fork: hits of the hooks on fork, likewise
 * @s:		its space
 * @exe:	path of the loader's program, or NULL
 * @got:	pages that are counted, as the last way found
 * @want:	how many there are
 * @kind:	of what kind
 * @ret:	of the whole
 * @missing:	steps that could not be driven here; bits
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
 * @run:	does it. Returns 0; MTAG_WAY_MISSING where there is no such thing; -EAGAIN where
 *		what is counted is not what there is; -ENXIO, said, for another failure
 * @hooks:	that must have seen it
 */
struct mtag_way {
	const char *name;
	int (*run)(struct mtag_drive *d);
	ftrace_func_t hooks[MTAG_WAY_HOOKS];
};

u64 mtag_ways_losses(void);
bool mtag_ways_limited(const struct mtag_drive *d);
extern const struct mtag_way mtag_ways[];	/* ended by an empty entry */
int mtag_ways_resolve(void);

#endif /* MTAG_WAYS_H */
