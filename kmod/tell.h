/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for the listener in an upper layer; tell.c.
 */
#ifndef MTAG_TELL_H
#define MTAG_TELL_H

struct task_struct;

typedef void mtag_tell_t(const char *kind, struct task_struct *leader);

void mtag_tell(const char *kind, struct task_struct *leader);
void mtag_tell_to(mtag_tell_t *listener);

#endif /* MTAG_TELL_H */
