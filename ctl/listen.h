/* SPDX-License-Identifier: GPL-2.0 */
/* Listens to the events that the module sends. */
#ifndef MTAGCTL_LISTEN_H
#define MTAGCTL_LISTEN_H

#include "model.h"

struct listener;

/* 0 or a negative errno: -ENOPROTOOPT without the module, -EPERM without CAP_SYS_ADMIN. */
int listen_open(struct listener **listener);
void listen_close(struct listener *listener);
static inline void listen_closep(struct listener **listener)
{
	listen_close(*listener);
}

/* Becomes readable when there are events. */
int listen_fd(const struct listener *listener);
/*
 * The next event that has come: 1; none: 0. -ENOBUFS: some were missed before the next;
 * -ENOPROTOOPT: the module has gone; else -errno.
 */
int listen_next(struct listener *listener, struct event *event);

#endif
