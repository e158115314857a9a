/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of lib_fake.h that answers netlink: the family's number, and a dump of the fake's tags. Each
 * tag has as many pages as its id; other counters tell which they are.
 */
#ifndef LIB_FAKE_DUMP_H
#define LIB_FAKE_DUMP_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#define FAMILY	    29
#define PER_MESSAGE 3
#define FAKE_PAGE   4096

/* What goes wrong. */
static struct {
	int socket_error;  /* fails every socket */
	int receive_error; /* fails every receive */
	int family_error, dump_error;
	int cut;	  /* bytes that each message of tags lacks at its end */
	bool backwards;	  /* ids descend */
	bool deep_parent; /* a tag says that it is its own parent */
	const char *comm; /* NULL: "fake" */
} dumps;

/* The answer under way, of this thread: what is asked, and how far it got. */
static __thread struct {
	uint16_t type;
	uint32_t seq, pid;
	mtag_t tag;
	bool done;
	char buf[8192];
	size_t used;
} answer;

static void put_attr(uint16_t type, const void *data, size_t len)
{
	struct nlattr head = {(uint16_t)(sizeof(head) + len), type};

	memset(answer.buf + answer.used, 0, NLA_ALIGN(head.nla_len));
	memcpy(answer.buf + answer.used, &head, sizeof(head));
	memcpy(answer.buf + answer.used + sizeof(head), data, len);
	answer.used += NLA_ALIGN(head.nla_len);
}

static size_t begin_message(uint16_t type, size_t head)
{
	struct nlmsghdr hdr = {.nlmsg_type = type, .nlmsg_seq = answer.seq};
	size_t start = answer.used;

	memset(answer.buf + start, 0, sizeof(hdr) + head);
	memcpy(answer.buf + start, &hdr, sizeof(hdr));
	answer.used += sizeof(hdr) + head;
	return start;
}

static void end_message(size_t start)
{
	uint32_t len = (uint32_t)(answer.used - start);

	memcpy(answer.buf + start, &len, sizeof(len));
}

static void put_status(uint16_t type, int err)
{
	size_t start = begin_message(type, sizeof(int));

	err = -err;
	memcpy(answer.buf + start + NLMSG_HDRLEN, &err, sizeof(err));
	end_message(start);
}

static void put_fake_tag(mtag_t id)
{
	uint64_t counters[MTAG_C_NR + 2] = {0}; /* a later module has more */
	uint16_t number = (uint16_t)id, parent = id ? (uint16_t)tags[id].parent : 0;
	size_t start = answer.used, c;
	uint16_t len;

	if (dumps.backwards)
		number = (uint16_t)(1000 - id);
	if (dumps.deep_parent)
		parent = number;
	for (c = MTAG_C_SWAP; c < MTAG_C_NR; c++)
		counters[c] = id * 100 + c;
	counters[MTAG_C_ANON] = (uint64_t)id * FAKE_PAGE;
	put_attr(MTAG_A_TAG, "", 0);
	put_attr(MTAG_A_TAG_ID, &number, sizeof(number));
	if (parent)
		put_attr(MTAG_A_TAG_PARENT, &parent, sizeof(parent));
	put_attr(MTAG_A_TAG_NAME, tags[id].name, strlen(tags[id].name) + 1);
	put_attr(MTAG_A_TAG_COUNTERS, counters, sizeof(counters));
	len = (uint16_t)(answer.used - start);
	memcpy(answer.buf + start, &len, sizeof(len));
}

static void put_tags(void)
{
	const char *comm = dumps.comm ? dumps.comm : "fake";
	size_t start = begin_message(FAMILY, GENL_HDRLEN);
	const uint64_t lost = 1, overflow = 2, repairs = 3;
	int n = 0;

	put_attr(MTAG_A_PROC_PID, &answer.pid, sizeof(answer.pid));
	put_attr(MTAG_A_PROC_COMM, comm, strlen(comm) + 1);
	put_attr(MTAG_A_PROC_LOST, &lost, sizeof(lost));
	put_attr(MTAG_A_PROC_OVERFLOW, &overflow, sizeof(overflow));
	put_attr(MTAG_A_PROC_REPAIRS, &repairs, sizeof(repairs));
	for (; answer.tag <= last_tag && n < PER_MESSAGE; answer.tag++) {
		if (answer.tag == MTAG_ID_KSM)
			continue;
		put_fake_tag(answer.tag);
		n++;
	}
	answer.used -= answer.used < (size_t)dumps.cut ? answer.used : (size_t)dumps.cut;
	end_message(start);
}

static long fake_send(const void *request, size_t len)
{
	const struct nlmsghdr *hdr = request;
	const struct nlattr *attr = (const void *)((const char *)NLMSG_DATA(hdr) + GENL_HDRLEN);

	CHECK(len == hdr->nlmsg_len && len >= NLMSG_HDRLEN + GENL_HDRLEN + attr->nla_len);
	answer.type = hdr->nlmsg_type;
	answer.seq = hdr->nlmsg_seq;
	answer.tag = 0;
	answer.done = false;
	if (answer.type == FAMILY) {
		CHECK(attr->nla_type == MTAG_A_PROC_PID && (hdr->nlmsg_flags & NLM_F_DUMP));
		memcpy(&answer.pid, attr + 1, sizeof(answer.pid));
		CHECK(answer.pid == (uint32_t)getpid());
	} else {
		CHECK(attr->nla_type == CTRL_ATTR_FAMILY_NAME &&
		      !strcmp((char *)(attr + 1), "mtag"));
	}
	return (long)len;
}

static long fake_receive(void *buf, size_t size)
{
	const uint16_t family = FAMILY;
	size_t start;

	if (answer.done) {
		errno = EAGAIN;
		return -1;
	}
	answer.used = 0;
	if (answer.type == FAMILY) {
		if (!dumps.dump_error && answer.tag <= last_tag)
			put_tags();
		else
			put_status(NLMSG_DONE, dumps.dump_error), answer.done = true;
	} else {
		if (!dumps.family_error) {
			start = begin_message(GENL_ID_CTRL, GENL_HDRLEN);
			put_attr(CTRL_ATTR_FAMILY_NAME, "mtag", 5);
			put_attr(CTRL_ATTR_FAMILY_ID, &family, sizeof(family));
			end_message(start);
		}
		put_status(NLMSG_ERROR, dumps.family_error);
		answer.done = true;
	}
	CHECK(answer.used <= size && answer.used <= sizeof(answer.buf));
	memcpy(buf, answer.buf, answer.used);
	return (long)answer.used;
}

#endif
