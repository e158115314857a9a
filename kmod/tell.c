// SPDX-License-Identifier: GPL-2.0
/*
 * Passes events up: the core raises them and does not know the listener that sends them to user
 * space.
 */
#include <linux/compiler.h>
#include <linux/rcupdate.h>
#include "mtag.h"
#include "tell.h"

static mtag_tell_t *told;

static void tell_news(const struct mtag_news *news)
{
	mtag_tell_t *listener;

	rcu_read_lock();
	listener = READ_ONCE(told);
	if (listener)
		listener(news);
	rcu_read_unlock();
}

/**
 * mtag_tell() - report an event to the listener, if there is one
 * @kind:	a string literal: "track", "untrack", "exit", "overflow"
 * @leader:	a task of the process the event concerns
 *
 * Context: process context, atomic or not; not in a page hook.
 */
void mtag_tell(const char *kind, struct task_struct *leader)
{
	tell_news(&(struct mtag_news){ .kind = kind, .leader = leader });
}

/**
 * mtag_tell_limit() - report that a tag has crossed a limit
 * @leader:	a task of its process
 * @tag:	its path
 * @bytes:	the limit
 *
 * Context: as mtag_tell().
 */
void mtag_tell_limit(struct task_struct *leader, const char *tag, u64 bytes)
{
	tell_news(&(struct mtag_news){
		.kind = "limit", .leader = leader, .tag = tag, .bytes = bytes
	});
}

/* Sends all further events to @listener, after a grace period. NULL drops them. */
void mtag_tell_to(mtag_tell_t *listener)
{
	WRITE_ONCE(told, listener);
}
