/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink family: its table, and the answers to single requests; netlink.c.
 */
#ifndef MTAG_NETLINK_H
#define MTAG_NETLINK_H

int mtag_netlink_init(void);
void mtag_netlink_exit(void);

#endif /* MTAG_NETLINK_H */
