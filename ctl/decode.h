/* SPDX-License-Identifier: GPL-2.0 */
/* The attributes of the netlink family's messages into the model. */
#ifndef MTAGCTL_DECODE_H
#define MTAGCTL_DECODE_H

#include "model.h"

struct nlattr;

/*
 * @attrs, @len: the attributes of one message. 0, -EBADMSG for what is malformed, -ENOMEM. Nothing
 * is read beyond @len.
 */
int decode_tags(struct nlattr *attrs, int len, struct snap *snap);
/* Adds the process to the snapshot, or completes it there: lost, overflow, repairs. */
int decode_proc(struct nlattr *attrs, int len, struct snap *snap);
int decode_audit(struct nlattr *attrs, int len, struct audit *audit);
int decode_info(struct nlattr *attrs, int len, struct info *info);

#endif
