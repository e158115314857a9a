/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Building of netlink messages; message.c.
 */
#ifndef MTAG_MESSAGE_H
#define MTAG_MESSAGE_H

#include <net/genetlink.h>
#include "access.h"
#include "pss.h"
#include "report.h"

enum { MTAG_NETLINK_EVENTS };	/* groups */

void mtag_message_init(const struct genl_family *f);
void *mtag_message_begin(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 cmd);
bool mtag_message_has_listeners(void);
void mtag_message_multicast(struct sk_buff *skb);
void mtag_message_missed(void);
int mtag_message_put_u64(struct sk_buff *skb, int type, u64 value);
int mtag_message_put_pages(struct sk_buff *skb, int type, u64 pages);
int mtag_message_explain(struct netlink_ext_ack *extack, int err);
int mtag_message_put_process(struct sk_buff *skb, const struct mtag_process *p);
int mtag_message_put_health(struct sk_buff *skb, const struct mtag_report *r);
u32 mtag_message_put_tags(struct sk_buff *skb, const struct mtag_report *r, u32 tag, bool brief,
			  const struct mtag_pss *p);
int mtag_message_put_sums(struct sk_buff *skb, const struct mtag_process *p,
			  const struct mtag_report *r);

#endif /* MTAG_MESSAGE_H */
