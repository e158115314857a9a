// SPDX-License-Identifier: GPL-2.0
/*
 * The way up for events: the core raises them, and does not know who sends them to user space.
 */
#include <linux/compiler.h>
#include "mtag.h"
#include "tell.h"

static mtag_tell_t *told;

/**
 * mtag_tell() - an event has come
 * @kind:	a string literal: "track", "untrack", "exit", "overflow"
 * @leader:	a task of the process that it is about
 *
 * Context: process context, atomic or not; not in a page hook.
 */
void mtag_tell(const char *kind, struct task_struct *leader)
{
	mtag_tell_t *listener = READ_ONCE(told);

	if (listener)
		listener(kind, leader);
}

/* From here on events go to @listener; NULL: to nobody. */
void mtag_tell_to(mtag_tell_t *listener)
{
	WRITE_ONCE(told, listener);
}
