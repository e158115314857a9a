/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for the listener in an upper layer; tell.c.
 */
#ifndef MTAG_TELL_H
#define MTAG_TELL_H

#include <linux/types.h>

struct task_struct;

/**
 * struct mtag_news - an event
 * @kind:	a string literal: "track", "untrack", "exit", "overflow", "limit"
 * @leader:	a task of the process that it concerns
 * @tag:	path of the tag of a "limit"; else NULL
 * @bytes:	the limit
 */
struct mtag_news {
	const char *kind;
	struct task_struct *leader;
	const char *tag;
	u64 bytes;
};

typedef void mtag_tell_t(const struct mtag_news *news);

void mtag_tell(const char *kind, struct task_struct *leader);
void mtag_tell_limit(struct task_struct *leader, const char *tag, u64 bytes);
void mtag_tell_to(mtag_tell_t *listener);

#endif /* MTAG_TELL_H */
