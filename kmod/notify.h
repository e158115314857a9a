/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for netlink listeners; notify.c.
 */
#ifndef MTAG_NOTIFY_H
#define MTAG_NOTIFY_H

void mtag_notify_open(void);
void mtag_notify_flush(void);

#endif /* MTAG_NOTIFY_H */
