/* SPDX-License-Identifier: GPL-2.0 */
/* The netlink family "mtag" without the library, for requests by any user. */
#ifndef MTAG_TESTS_NETLINK_H
#define MTAG_TESTS_NETLINK_H

#include "test.h"
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#define NL_ALIGN(n) (((n) + 3) & ~3U)

/* An answer: all its messages, in sequence. */
struct heard {
	int error;
	unsigned int messages;
	size_t len;
	char *buf;
};

extern uint16_t nl_family;
extern uint32_t nl_events; /* the multicast group */

uint32_t nl_u32(const struct nlattr *attr);

/* Returns the attribute of that type in a message; NULL: there is none. */
const struct nlattr *nl_attr(const struct nlmsghdr *h, int type);

void nl_send(int fd, uint16_t type, int command, int flags, int attr, const void *data, size_t len);

/* Reads to the end of an answer. */
struct heard *nl_hear(int fd);

struct heard *nl_ask(int fd, int command, int flags, pid_t pid);

/* nl_each(h, heard): its messages. */
#define nl_each(h, heard)                                                                          \
	for (const struct nlmsghdr *h = (const void *)(heard)->buf;                                \
	     (const char *)h < (heard)->buf + (heard)->len;                                        \
	     h = (const void *)((const char *)h + NL_ALIGN(h->nlmsg_len)))

bool nl_holds(const struct heard *heard, const char *text);
int nl_open(void);

/* Joins the group of events, with @room bytes for those that wait, or 0 for the usual. Returns the socket, or an error. */
int nl_listen(int room);

/* Is a message an event of that kind? */
bool nl_is_event(const void *message, const char *kind);

/* Finds the family and its group. */
void nl_begin(void);

#endif
