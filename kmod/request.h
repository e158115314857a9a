/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink requests that may wait for another process; request.c.
 */
#ifndef MTAG_REQUEST_H
#define MTAG_REQUEST_H

#include <linux/module.h>
#include <net/genetlink.h>
#include "access.h"

struct mtag_request;
typedef int mtag_request_t(struct mtag_request *r);

/**
 * struct mtag_request - a request that may wait
 * @node:	in its batch
 * @skb:	its message, or a copy for it alone; reference
 * @nlh:	its header, in @skb
 * @file:	of the sender's socket; reference
 * @sk:		that socket; bound as long as there is @file
 * @portid:	of @sk
 * @opener:	credentials of the opener of @file
 * @pid:	its attribute proc-pid in @skb, or NULL
 * @run:	answers it
 * @extack:	details of an error
 */
struct mtag_request {
	struct list_head node;
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	struct file *file;
	struct sock *sk;
	u32 portid;
	const struct cred *opener;
	const struct nlattr *pid;
	mtag_request_t *run;
	struct netlink_ext_ack extack;
};

/*
 * May what takes longer than the call be begun? A load that fails frees the module's text even
 * under an open dump, and rmmod would have to wait for it.
 */
static inline bool mtag_request_allowed(void)
{
	return READ_ONCE(THIS_MODULE->state) == MODULE_STATE_LIVE;
}

int mtag_request(struct sk_buff *skb, const struct nlmsghdr *nlh, const struct nlattr *pid,
		 mtag_request_t *run);
int mtag_request_process(struct mtag_target *t, enum mtag_access access, struct mtag_request *r);
int mtag_request_target(struct mtag_target *t, enum mtag_access access, struct mtag_request *r);

#endif /* MTAG_REQUEST_H */
