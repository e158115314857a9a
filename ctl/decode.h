/* SPDX-License-Identifier: GPL-2.0 */
/* Decodes the attributes of the netlink family's messages into the model. */
#ifndef MTAGCTL_DECODE_H
#define MTAGCTL_DECODE_H

#include "model.h"
#include "past.h"

struct nlattr;

/*
 * @attrs, @len: the attributes of one message; nothing is read beyond @len. All return 0, -ENOMEM,
 * or -EBADMSG if the message is malformed.
 */
int decode_tags(struct nlattr *attrs, int len, struct snap *snap);
/* Adds a process to the snapshot, or sets its lost, overflow and repairs if it is there already. */
int decode_proc(struct nlattr *attrs, int len, struct snap *snap);
int decode_audit(struct nlattr *attrs, int len, struct audit *audit);
int decode_event(struct nlattr *attrs, int len, struct event *event);
int decode_info(struct nlattr *attrs, int len, struct info *info);
/* Adds an ended process, or tags to it if it is the last one added. */
int decode_past(struct nlattr *attrs, int len, struct ledger *ledger);

#endif
