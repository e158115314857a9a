/* SPDX-License-Identifier: GPL-2.0 */
/* Decodes the messages of the netlink family that hold user stacks. */
#ifndef MTAGCTL_STACKS_DECODE_H
#define MTAGCTL_STACKS_DECODE_H

#include "stacks/trace.h"

struct nlattr;

/* Adds images and stacks. Nothing is read beyond @len. 0, -ENOMEM, or -EBADMSG if the message is malformed. */
int decode_traces(struct nlattr *attrs, int len, struct traces *traces);

#endif
