// SPDX-License-Identifier: GPL-2.0
/* Netlink messages that need not be well-formed, and answers that must be. */
#include "fuzz_netlink.h"

int fuzz_family;

void message(struct message *m, int type, int command, int flags)
{
	memset(m, 0, 64);
	m->nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	m->nl.nlmsg_type = type;
	m->nl.nlmsg_flags = NLM_F_REQUEST | flags;
	m->nl.nlmsg_seq = 1;
	m->genl.cmd = command;
	m->genl.version = MTAG_GENL_VERSION;
}

void put(struct message *m, int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)((char *)m + m->nl.nlmsg_len);

	if (m->nl.nlmsg_len + NLA_HDRLEN + ALIGN4(len) > sizeof(*m))
		return;
	memset(attr, 0, NLA_HDRLEN + ALIGN4(len));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy(attr + 1, data, len);
	m->nl.nlmsg_len += NLA_HDRLEN + ALIGN4(len);
}

void put_pid(struct message *m, uint32_t pid)
{
	put(m, MTAG_A_PROC_PID, &pid, sizeof(pid));
}

bool attributes(const char *at, const char *end, int depth, attribute_t *call, void *data)
{
	while (at < end) {
		const struct nlattr *attr = (const void *)at;
		int type;

		if (end - at < NLA_HDRLEN || attr->nla_len < NLA_HDRLEN || attr->nla_len > end - at)
			return false;
		type = attr->nla_type & NLA_TYPE_MASK;
		if (type > MTAG_A_MAX)
			return false;
		if (call)
			call(attr, depth, data);
		if ((type == MTAG_A_TAG || type == MTAG_A_STACK || type == MTAG_A_STACK_IMAGE) &&
		    (depth || !attributes(at + NLA_HDRLEN, at + attr->nla_len, 1, call, data)))
			return false;
		at += ALIGN4(attr->nla_len);
	}
	return true;
}

int genl_open(void)
{
	struct sockaddr_nl self = {.nl_family = AF_NETLINK};
	struct timeval limit = {.tv_sec = 60};
	int one = 1, s = must(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));

	/* Without an address of its own it gets no events. */
	must(bind(s, (struct sockaddr *)&self, sizeof(self)));
	must(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	/* An error does not repeat the request, in which anything may be. */
	must(setsockopt(s, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)));
	return s;
}

int genl_answer(int s, attribute_t *call, void *data)
{
	static char buf[128 * KIB];

	for (;;) {
		ssize_t n = recv(s, buf, sizeof(buf), 0);
		struct nlmsghdr *h = (void *)buf;

		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		for (; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(h);
			if (h->nlmsg_type == fuzz_family &&
			    !attributes((char *)NLMSG_DATA(h) + GENL_HDRLEN,
					(char *)h + h->nlmsg_len, 0, call, data))
				ok(false, "a reply's attributes are well-formed");
		}
	}
}

int genl_ask(int s, int command, int flags, pid_t pid, attribute_t *call, void *data)
{
	static struct message m;

	message(&m, fuzz_family, command, flags);
	if (pid)
		put_pid(&m, pid);
	must(send(s, &m, m.nl.nlmsg_len, 0));
	return genl_answer(s, call, data);
}

int fuzz_group;

static void find_group(const struct nlattr *groups)
{
	/* CTRL_ATTR_MCAST_GROUPS: an array of nests, here of one, of name and id */
	const char *at = (const char *)groups + 2 * NLA_HDRLEN,
		   *end = (const char *)groups + groups->nla_len;

	while (at < end) {
		const struct nlattr *attr = (const void *)at;

		if ((attr->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_MCAST_GRP_ID)
			memcpy(&fuzz_group, attr + 1, 4);
		at += ALIGN4(attr->nla_len);
	}
}

void find_family(void)
{
	char buf[8192];
	struct message *m = must(mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	int s = genl_open();
	const char *at = buf + NLMSG_LENGTH(GENL_HDRLEN), *end;

	message(m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	put(m, CTRL_ATTR_FAMILY_NAME, MTAG_GENL_NAME, sizeof(MTAG_GENL_NAME));
	must(send(s, m, m->nl.nlmsg_len, 0));
	end = buf + must(recv(s, buf, sizeof(buf), 0));
	if (((struct nlmsghdr *)buf)->nlmsg_type == NLMSG_ERROR)
		bail("no netlink family %s", MTAG_GENL_NAME);
	while (at < end) {
		const struct nlattr *attr = (const void *)at;

		if ((attr->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_FAMILY_ID)
			memcpy(&fuzz_family, attr + 1, 2);
		if ((attr->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_MCAST_GROUPS)
			find_group(attr);
		at += ALIGN4(attr->nla_len);
	}
	close(s);
	must(munmap(m, sizeof(*m)));
}
