// SPDX-License-Identifier: GPL-2.0
/* The netlink family "mtag" without the library, for requests by any user. */
#include "netlink.h"

#define NL_ROOM (8 * MIB)

uint16_t nl_family;
uint32_t nl_events; /* the multicast group */

static const struct nlattr *nl_find(const void *attrs, size_t len, int type)
{
	const char *at = attrs;

	while (len >= NLA_HDRLEN) {
		const struct nlattr *attr = (const void *)at;
		size_t size = NL_ALIGN(attr->nla_len);

		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > len)
			break;
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (size >= len)
			break;
		at += size;
		len -= size;
	}
	return NULL;
}

uint32_t nl_u32(const struct nlattr *attr)
{
	uint32_t value = 0;

	if (attr)
		memcpy(&value, attr + 1, sizeof(value));
	return value;
}

const struct nlattr *nl_attr(const struct nlmsghdr *h, int type)
{
	return nl_find((const char *)h + NLMSG_LENGTH(GENL_HDRLEN),
		       h->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), type);
}

void nl_send(int fd, uint16_t type, int command, int flags, int attr, const void *data, size_t len)
{
	static uint32_t sequence;
	struct {
		struct nlmsghdr nl;
		struct genlmsghdr genl;
		struct nlattr attr;
		char room[256];
	} m = {0};

	m.nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	m.nl.nlmsg_type = type;
	m.nl.nlmsg_flags = NLM_F_REQUEST | flags;
	m.nl.nlmsg_seq = ++sequence;
	m.genl.cmd = command;
	m.genl.version = 1;
	if (attr) {
		m.attr.nla_type = attr;
		m.attr.nla_len = NLA_HDRLEN + len;
		memcpy(m.room, data, len);
		m.nl.nlmsg_len += NL_ALIGN(m.attr.nla_len);
	}
	must(send(fd, &m, m.nl.nlmsg_len, 0));
}

struct heard *nl_hear(int fd)
{
	static struct heard heard;
	ssize_t n;

	if (!heard.buf) {
		heard.buf = must(mmap(NULL, NL_ROOM, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
		no_huge(heard.buf, NL_ROOM);
	}
	heard = (struct heard){.buf = heard.buf};
	while (heard.len + 64 * KIB < NL_ROOM) {
		struct nlmsghdr *h = (void *)(heard.buf + heard.len);

		n = recv(fd, h, NL_ROOM - heard.len, 0);
		if (n < 0) {
			heard.error = errno == EAGAIN ? -ETIMEDOUT : -errno;
			return &heard;
		}
		for (size_t left = n; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE) {
				heard.error = *(int *)NLMSG_DATA(h);
				return &heard;
			}
			heard.messages++;
			heard.len += NL_ALIGN(h->nlmsg_len);
		}
	}
	bail("an answer without an end");
}

struct heard *nl_ask(int fd, int command, int flags, pid_t pid)
{
	nl_send(fd, nl_family, command, NLM_F_ACK | flags, pid ? MTAG_A_PROC_PID : 0, &pid, 4);
	return nl_hear(fd);
}

bool nl_holds(const struct heard *heard, const char *text)
{
	return memmem(heard->buf, heard->len, text, strlen(text));
}

int nl_open(void)
{
	struct timeval limit = {.tv_sec = 30};
	int fd = must(socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC));

	must(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	return fd;
}

int nl_listen(int room)
{
	struct sockaddr_nl any = {.nl_family = AF_NETLINK};
	int fd = nl_open();

	if (room)
		must(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	/* A socket without a number of its own is told nothing. */
	must(bind(fd, (struct sockaddr *)&any, sizeof(any)));
	if (!setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl_events, sizeof(nl_events)))
		return fd;
	close(fd);
	return -errno;
}

bool nl_is_event(const void *message, const char *kind)
{
	const struct nlattr *attr = nl_attr(message, MTAG_A_EVENT_KIND);

	return attr && !strcmp((const char *)(attr + 1), kind);
}

void nl_begin(void)
{
	int fd = nl_open();
	const struct nlattr *id, *groups, *group;
	struct heard *heard;

	nl_send(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK, CTRL_ATTR_FAMILY_NAME,
		MTAG_GENL_NAME, sizeof(MTAG_GENL_NAME));
	heard = nl_hear(fd);
	close(fd);
	if (heard->error || !heard->messages)
		bail("no netlink family %s", MTAG_GENL_NAME);
	nl_each(h, heard)
	{
		id = nl_attr(h, CTRL_ATTR_FAMILY_ID);
		groups = nl_attr(h, CTRL_ATTR_MCAST_GROUPS);
		nl_family = nl_u32(id);
		if (!groups)
			continue;
		group = groups + 1;
		nl_events = nl_u32(nl_find(group + 1, group->nla_len - NLA_HDRLEN,
					   CTRL_ATTR_MCAST_GRP_ID));
	}
}
