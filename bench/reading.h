/* SPDX-License-Identifier: GPL-2.0 */
/* What it costs to read the tags of this process by netlink, in instructions. */
#ifndef MTAG_BENCH_READING_H
#define MTAG_BENCH_READING_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"
#include "uapi/linux/mtag.h"

struct request {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	struct nlattr attr;
	char data[16];
};

static char reply[1 << 16];

static int transfer(int fd, uint16_t type, uint8_t cmd, uint16_t flags, uint16_t attr,
		    const void *data, size_t len)
{
	static const struct nlattr brief = {NLA_HDRLEN, MTAG_A_TAG_BRIEF};
	struct request r = {.nl = {.nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | flags},
			    .genl = {.cmd = cmd, .version = 1},
			    .attr = {.nla_type = attr, .nla_len = NLA_HDRLEN + len}};

	memcpy(r.data, data, len);
	r.nl.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + NLA_ALIGN(r.attr.nla_len);
	/* As the library and mtagctl ask. */
	if (flags & NLM_F_DUMP) {
		memcpy((char *)&r + r.nl.nlmsg_len, &brief, sizeof(brief));
		r.nl.nlmsg_len += sizeof(brief);
	}
	must(send(fd, &r, r.nl.nlmsg_len, 0));
	return must(recv(fd, reply, sizeof(reply), 0));
}

static uint16_t family(int fd)
{
	int n = transfer(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, CTRL_ATTR_FAMILY_NAME,
			 MTAG_GENL_NAME, sizeof(MTAG_GENL_NAME));
	char *p = reply + NLMSG_HDRLEN + GENL_HDRLEN, *end = reply + n;

	while (p < end) {
		struct nlattr *a = (struct nlattr *)p;

		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)(p + NLA_HDRLEN);
		p += NLA_ALIGN(a->nla_len);
	}
	fprintf(stderr, "bench: no netlink family\n");
	exit(1);
}

/* The whole dump; the replies are received but not parsed. */
static double dump(int fd, uint16_t type, uint8_t cmd)
{
	uint32_t pid = getpid();
	double start = now();
	int n = transfer(fd, type, cmd, NLM_F_DUMP, MTAG_A_PROC_PID, &pid, sizeof(pid));

	while (((struct nlmsghdr *)reply)->nlmsg_type != NLMSG_DONE) {
		if (n < NLMSG_HDRLEN || ((struct nlmsghdr *)reply)->nlmsg_type == NLMSG_ERROR) {
			fprintf(stderr, "bench: the dump failed\n");
			exit(1);
		}
		n = must(recv(fd, reply, sizeof(reply), 0));
	}
	return now() - start;
}

/* The numbers without the strings: the cost of folding all accounts. */
static double sums(int fd, uint16_t type)
{
	uint32_t pid = getpid();
	double start = now();

	transfer(fd, type, MTAG_CMD_PROC_GET, 0, MTAG_A_PROC_PID, &pid, sizeof(pid));
	return now() - start;
}

/* Of all tags with their names, and of the sums alone. */
struct reading {
	double dump, sums;
};

static struct reading reading(void)
{
	int fd = must(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
	struct reading least = {1e12, 1e12};
	uint16_t type = family(fd);

	for (int i = 0; i < 5; i++) {
		least.dump = min(least.dump, dump(fd, type, MTAG_CMD_TAG_GET));
		least.sums = min(least.sums, sums(fd, type));
	}
	close(fd);
	return least;
}

#endif
