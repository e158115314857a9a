/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink messages that need not be well-formed, and answers that must be. */
#ifndef MTAG_TESTS_FUZZ_NETLINK_H
#define MTAG_TESTS_FUZZ_NETLINK_H

#include "test.h"
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#define ALIGN4(n) (((n) + 3) & ~3U)

extern int fuzz_family;

struct message {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char room[65536];
};

void message(struct message *m, int type, int command, int flags);
void put(struct message *m, int type, const void *data, size_t len);
void put_pid(struct message *m, uint32_t pid);

/* Called for each attribute of a reply; @depth 1: inside a nest. */
typedef void attribute_t(const struct nlattr *attr, int depth, void *data);

/* True if all attributes in [at, end) are well-formed. */
bool attributes(const char *at, const char *end, int depth, attribute_t *call, void *data);

int genl_open(void);

/* Reads an answer to its end and passes each attribute to @call; returns its error. */
int genl_answer(int s, attribute_t *call, void *data);

int genl_ask(int s, int command, int flags, pid_t pid, attribute_t *call, void *data);

/* The family's id and its group of events; 0 if there is none. */
extern int fuzz_group;

void find_family(void);

#endif
