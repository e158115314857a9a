// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads all tags of this process from the module, as of one moment: a dump of generic netlink,
 * which needs no privilege for one's own process. The module answers before the call that sends or
 * receives returns, so nothing here waits.
 */
#include "internal.h"
#include "netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "uapi/linux/mtag.h"

/* A request has one attribute, and perhaps a flag after it. */
struct request {
	struct nlmsghdr hdr;
	struct genlmsghdr genl;
	struct nlattr attr;
	char value[8 + NLA_HDRLEN];
};

/* A request under way; what is received goes to @buf. */
struct talk {
	long fd;
	void *buf;
	uint32_t seq;
	mtag__take_t *take;
	void *arg;
};

bool mtag__attr_next(struct mtag__attrs *attrs, struct mtag__attr *attr)
{
	struct nlattr head;
	size_t step;

	if (attrs->left < sizeof(head))
		return false;
	memcpy(&head, attrs->at, sizeof(head));
	if (head.nla_len < sizeof(head) || head.nla_len > attrs->left)
		return false;
	attr->type = head.nla_type & NLA_TYPE_MASK;
	attr->len = head.nla_len - sizeof(head);
	attr->data = attrs->at + sizeof(head);
	step = NLA_ALIGN(head.nla_len);
	if (step > attrs->left)
		step = attrs->left;
	attrs->at += step;
	attrs->left -= step;
	return true;
}

static int send_request(const struct talk *talk, uint16_t family, uint16_t flags, uint8_t command,
			uint16_t type, const void *value, uint16_t len, uint16_t flag)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	const struct nlattr last = {.nla_len = NLA_HDRLEN, .nla_type = flag};
	struct request r = {
		.hdr = {.nlmsg_type = family,
			.nlmsg_flags = NLM_F_REQUEST | flags,
			.nlmsg_seq = talk->seq},
		.genl = {.cmd = command, .version = 1},
		.attr = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type},
	};
	long sent;

	memcpy(r.value, value, len);
	r.hdr.nlmsg_len = (uint32_t)(sizeof(r.hdr) + sizeof(r.genl)) + NLA_ALIGN(r.attr.nla_len);
	if (flag) {
		memcpy((char *)&r + r.hdr.nlmsg_len, &last, sizeof(last));
		r.hdr.nlmsg_len += sizeof(last);
	}
	do {
		sent = syscall(SYS_sendto, talk->fd, &r, (long)r.hdr.nlmsg_len, 0L, &kernel,
			       (long)sizeof(kernel));
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/* Receives what the kernel, and nobody else, has sent: its bytes, or -errno. */
static long receive(const struct talk *talk)
{
	struct sockaddr_nl from;
	socklen_t len;
	long got;

	do {
		from = (struct sockaddr_nl){0};
		len = sizeof(from);
		got = syscall(SYS_recvfrom, talk->fd, talk->buf, (long)MTAG__MESSAGE_BYTES,
			      (long)(MSG_DONTWAIT | MSG_TRUNC), &from, &len);
	} while (got < 0 ? errno == EINTR : from.nl_pid != 0);
	if (got < 0)
		return errno == EAGAIN ? -EIO : -errno;
	return got > MTAG__MESSAGE_BYTES ? -EMSGSIZE : got;
}

/* The number after the header of an error, or of the end of a dump. */
static int status_of(const struct nlmsghdr *hdr)
{
	int status;

	if (hdr->nlmsg_len < NLMSG_HDRLEN + sizeof(status))
		return -EBADMSG;
	memcpy(&status, NLMSG_DATA(hdr), sizeof(status));
	return status > 0 ? -EBADMSG : status;
}

/* Takes one message. Returns 1 to go on, 0 at the end, or -errno. */
static int take_message(const struct talk *talk, const struct nlmsghdr *hdr)
{
	struct mtag__attrs attrs;
	int err;

	if (hdr->nlmsg_seq != talk->seq || hdr->nlmsg_type == NLMSG_NOOP)
		return 1;
	if (hdr->nlmsg_type == NLMSG_ERROR || hdr->nlmsg_type == NLMSG_DONE)
		return status_of(hdr);
	if (hdr->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return -EBADMSG;
	attrs.at = (const char *)NLMSG_DATA(hdr) + GENL_HDRLEN;
	attrs.left = hdr->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
	err = talk->take(attrs, talk->arg);
	return err ? err : 1;
}

static int receive_all(const struct talk *talk)
{
	const struct nlmsghdr *hdr;
	int more = 1;

	while (more > 0) {
		long got = receive(talk);
		unsigned left = (unsigned)got;

		if (got < 0)
			return (int)got;
		for (hdr = talk->buf; more > 0 && NLMSG_OK(hdr, left); hdr = NLMSG_NEXT(hdr, left))
			more = take_message(talk, hdr);
	}
	return more;
}

static int take_family(struct mtag__attrs attrs, void *arg)
{
	struct mtag__attr attr;

	while (mtag__attr_next(&attrs, &attr))
		if (attr.type == CTRL_ATTR_FAMILY_ID && attr.len >= sizeof(uint16_t))
			memcpy(arg, attr.data, sizeof(uint16_t));
	return 0;
}

static int find_family(struct talk talk, uint16_t *family)
{
	int err;

	talk.take = take_family;
	talk.arg = family;
	talk.seq = 1;
	*family = 0;
	err = send_request(&talk, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY,
			   CTRL_ATTR_FAMILY_NAME, MTAG_GENL_NAME, sizeof(MTAG_GENL_NAME), 0);
	if (!err)
		err = receive_all(&talk);
	return err || *family ? err : -ENOENT;
}

static int dump_own(struct talk *talk, uint16_t family, uint16_t flag)
{
	uint32_t pid = (uint32_t)syscall(SYS_getpid);
	int err;

	talk->seq++;
	err = send_request(talk, family, NLM_F_DUMP, MTAG_CMD_TAG_GET, MTAG_A_PROC_PID, &pid,
			   sizeof(pid), flag);
	if (!err)
		err = receive_all(talk);
	/* Netlink's way to say that a process is not tracked. */
	return err == -ENOENT ? -ESRCH : err;
}

int mtag__dump_tags(void *buf, mtag__take_t *take, void *arg)
{
	struct talk talk = {.buf = buf, .take = take, .arg = arg, .seq = 1};
	int saved = errno, err;
	uint16_t family;

	talk.fd = syscall(SYS_socket, (long)AF_NETLINK, (long)(SOCK_RAW | SOCK_CLOEXEC),
			  (long)NETLINK_GENERIC);
	if (talk.fd < 0) {
		err = -errno;
	} else {
		err = find_family(talk, &family);
		if (!err) {
			err = dump_own(&talk, family, MTAG_A_TAG_BRIEF);
			/* From a module that does not know the flag. */
			if (err == -EINVAL)
				err = dump_own(&talk, family, 0);
		}
		syscall(SYS_close, talk.fd);
	}
	errno = saved;
	return err;
}
