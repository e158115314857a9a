/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the netlink family: netlink.c has its table and answers single
 * requests, dump.c answers dumps, request.c has both wait where they may,
 * notify.c sends events.
 */
#ifndef MTAG_NETLINK_H
#define MTAG_NETLINK_H

#include <net/genetlink.h>
#include "present.h"

enum { MTAG_NETLINK_EVENTS };	/* groups */

/* ---- request.c ---- */

struct mtag_request;
typedef int mtag_request_t(struct mtag_request *r);

/**
 * struct mtag_request - a request that may wait
 * @node:	in its batch
 * @skb:	that it came by; reference
 * @nlh:	in @skb
 * @sk:		that it was sent by; reference
 * @portid:	of @sk
 * @opener:	whoever opened @sk; reference
 * @pid:	its proc-pid in @skb, or NULL
 * @run:	answers it
 * @extack:	what is told beside an error
 */
struct mtag_request {
	struct list_head node;
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	struct sock *sk;
	u32 portid;
	const struct cred *opener;
	const struct nlattr *pid;
	mtag_request_t *run;
	struct netlink_ext_ack extack;
};

int mtag_request(struct sk_buff *skb, const struct nlmsghdr *nlh, const struct nlattr *pid,
		 mtag_request_t *run);

/* ---- message.c ---- */
void mtag_message_init(const struct genl_family *f);
void *mtag_message_begin(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 cmd);
bool mtag_message_has_listeners(void);
void mtag_message_multicast(struct sk_buff *skb);
void mtag_message_missed(void);
int mtag_message_put_u64(struct sk_buff *skb, int type, u64 value);
int mtag_message_put_pages(struct sk_buff *skb, int type, u64 pages);
int mtag_message_explain(struct netlink_ext_ack *extack, int err);
int mtag_request_process(struct mtag_target *t, enum mtag_access access, struct mtag_request *r);
int mtag_request_target(struct mtag_target *t, enum mtag_access access, struct mtag_request *r);
int mtag_message_put_process(struct sk_buff *skb, const struct mtag_process *p);
int mtag_message_put_health(struct sk_buff *skb, const struct mtag_report *r);
int mtag_message_put_sums(struct sk_buff *skb, const struct mtag_process *p,
			  const struct mtag_report *r);

/* ---- dump.c ---- */
int mtag_dump_procs(struct mtag_request *r);
int mtag_dump_tags(struct mtag_request *r);

/* ---- notify.c ---- */
void mtag_notify_open(void);
void mtag_notify_flush(void);

#endif /* MTAG_NETLINK_H */
