/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the netlink family: netlink.c has its table and answers single
 * requests, dump.c answers dumps, notify.c sends events.
 */
#ifndef MTAG_NETLINK_H
#define MTAG_NETLINK_H

#include <net/genetlink.h>
#include "present.h"

enum { MTAG_NETLINK_EVENTS };	/* groups */

extern struct genl_family mtag_family;

/* netlink.c */
int mtag_netlink_explain(struct netlink_ext_ack *extack, int err);
const struct cred *mtag_netlink_opener(struct sk_buff *skb);
int mtag_netlink_target(struct mtag_target *t, const struct nlattr *pid, enum mtag_access access,
			struct sk_buff *skb, struct netlink_ext_ack *extack);
int mtag_netlink_put_process(struct sk_buff *skb, const struct mtag_process *p);
int mtag_netlink_put_sums(struct sk_buff *skb, const struct mtag_process *p,
			  const struct mtag_report *r);

/* dump.c */
int mtag_dump_start(struct netlink_callback *cb);
int mtag_dump_procs(struct sk_buff *skb, struct netlink_callback *cb);
int mtag_dump_tags(struct sk_buff *skb, struct netlink_callback *cb);
int mtag_dump_done(struct netlink_callback *cb);

/* notify.c */
void mtag_notify_open(void);
void mtag_notify_flush(void);

#endif /* MTAG_NETLINK_H */
