/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dumps of processes that ended; recall.c.
 */
#ifndef MTAG_RECALL_H
#define MTAG_RECALL_H

struct netlink_callback;
struct sk_buff;

int mtag_recall_start(struct netlink_callback *cb);
int mtag_recall_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mtag_recall_done(struct netlink_callback *cb);

#endif /* MTAG_RECALL_H */
