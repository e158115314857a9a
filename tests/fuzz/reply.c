// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/decode.c ctl/stacks/stack.c ctl/model.c ctl/past.c ctl/utf8.c ctl/stacks/trace.c ctl/stacks/decode.c */
/*
 * What comes from the socket, through libnl and mtagctl's callbacks: errors with the kernel's words,
 * dumps in parts, interrupted, of other families, cut off. Every request ends, and says so rightly.
 */
#include <errno.h>
#include <sys/socket.h>
#include <netlink/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include "message.h"

#define FAMILY 0x21
#define STEP   4 /* what is before a message, for it to be aligned */

/* Datagrams that are still to come. */
static const uint8_t *stream;
static size_t stream_len;

/* The next one: a message, or all that is left. */
static int receive(struct nl_sock *sock, struct sockaddr_nl *from, unsigned char **buf,
		   struct ucred **creds)
{
	struct nlmsghdr hdr;
	unsigned int flags;
	size_t len;

	(void)sock;
	if (stream_len <= STEP)
		return -NLE_NOADDR;
	flags = *stream;
	stream += STEP;
	stream_len -= STEP;
	len = stream_len;
	if (flags & 0x80 && stream_len > sizeof(hdr)) {
		memcpy(&hdr, stream, sizeof(hdr));
		len = NLMSG_ALIGN((size_t)hdr.nlmsg_len);
		len = len && len < stream_len ? len : stream_len;
	}
	*from = (struct sockaddr_nl){.nl_family = AF_NETLINK};
	*creds = NULL;
	*buf = malloc(len + 1);
	memcpy(*buf, stream, len);
	stream += len;
	stream_len -= len;
	return len ? (int)len : -NLE_NOADDR;
}

static int any_sequence(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static int receive_all(struct nl_sock *sock, struct nl_cb *cb)
{
	nl_cb_overwrite_recv(cb, receive);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, any_sequence, NULL);
	return nl_recvmsgs(sock, cb);
}

static int send_nothing(struct nl_sock *sock, struct nl_msg *msg)
{
	nl_complete_msg(sock, msg);
	return (int)nlmsg_hdr(msg)->nlmsg_len;
}

#define nl_recvmsgs(sock, cb)	receive_all(sock, cb)
#define nl_send_auto(sock, msg) send_nothing(sock, msg)
#include "../../ctl/kern.c"

/* ---- the grammar ---- */

static void put_header(struct message *m, size_t at, unsigned int type, unsigned int flags)
{
	struct nlmsghdr hdr = {.nlmsg_len = (uint32_t)(m->len - at),
			       .nlmsg_type = (uint16_t)type,
			       .nlmsg_flags = (uint16_t)flags};

	memcpy(m->buf + at, &hdr, sizeof(hdr));
}

/* An error, an acknowledgement, or the end of a dump, perhaps with words. */
static void put_end(struct input *in, struct message *m, unsigned int type)
{
	int32_t err = in_u8(in) & 1 ? -(int32_t)in_below(in, 140) : (int32_t)in_rarely(in);
	unsigned int flags = in_u8(in) & 3 ? NLM_F_ACK_TLVS : 0;
	struct nlmsghdr request = {.nlmsg_len = sizeof(request)};

	memcpy(put(m, sizeof(err)), &err, sizeof(err));
	if (type == NLMSG_ERROR) {
		if (in_rarely(in))
			request.nlmsg_len = (uint32_t)in_number(in);
		flags |= in_u8(in) & 1 ? NLM_F_CAPPED : 0;
		memcpy(put(m, sizeof(request)), &request, sizeof(request));
	}
	if (in_u8(in) & 1)
		put_string(in, m, NLMSGERR_ATTR_MSG, 80);
	if (in_rarely(in))
		put_number(in, m, NLMSGERR_ATTR_OFFS, 4);
	put_header(m, 0, type, flags);
}

static void put_message(struct input *in, struct message *m)
{
	struct genlmsghdr genl = {.cmd = (uint8_t)in_below(in, 8), .version = MTAG_GENL_VERSION};
	unsigned int flags = NLM_F_MULTI;

	put(m, sizeof(struct nlmsghdr));
	switch (in_below(in, 8)) {
	case 0:
		put_end(in, m, NLMSG_ERROR);
		return;
	case 1:
		put_end(in, m, NLMSG_DONE);
		return;
	case 2:
		put_header(m, 0, in_below(in, 64), (unsigned int)in_bytes(in, 2));
		return;
	}
	if (!in_rarely(in))
		memcpy(put(m, sizeof(genl)), &genl, sizeof(genl));
	put_attributes(in, m);
	if (in_rarely(in))
		flags |= NLM_F_DUMP_INTR;
	if (in_rarely(in))
		flags = (unsigned int)in_bytes(in, 2);
	put_header(m, 0, in_rarely(in) ? in_below(in, 64) : FAMILY, flags);
}

static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	size_t len = 0;

	for (unsigned int n = in_below(in, 8) + 1; n && size - len > 16384; n--) {
		struct message m = {.buf = buf + len + STEP, .room = 16384 - STEP};

		memset(buf + len, in_rarely(in) ? 0 : 0xff, STEP);
		put_message(in, &m);
		spoil(in, &m);
		len += STEP + NLMSG_ALIGN(m.len);
	}
	return len;
}

/* ---- the requests ---- */

static void check_snap(const struct snap *snap, int err)
{
	must(err <= KERN_INCOMPLETE);
	for (size_t i = 0; !err && i < snap->n_procs; i++)
		must(snap->procs[i].order && snap->procs[i].comm);
}

static void ask(struct kern *kern, unsigned int what)
{
	struct snap snap = {0};
	struct traces traces = {0};
	struct audit audit;
	struct info info;

	switch (what % 6) {
	case 0:
		check_snap(&snap, kern_tags(kern, 0, &snap));
		break;
	case 1:
		check_snap(&snap, kern_tags(kern, 1, &snap));
		break;
	case 2:
		check_snap(&snap, kern_procs(kern, &snap));
		break;
	case 3:
		must(kern_audit(kern, 1, &audit) <= 0);
		break;
	case 4:
		must(kern_info(kern, &info) <= 0);
		must(kern_track(kern, 1, what & 1) <= 0);
		break;
	case 5:
		must(kern_stacks(kern, 1, what & 2, &traces) <= 0);
		must(kern_stack_start(kern, 1, 1, 3) <= 0);
		break;
	}
	traces_clear(&traces);
	must_be_harmless(kern->why, strlen(kern->why), TEXT);
	snap_clear(&snap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[FUZZ_ROOM];
	struct kern *kern = calloc(1, sizeof(*kern));
	struct input in = {data, size};
	unsigned int what = (unsigned int)in_bytes(&in, STEP);

	kern->sock = nl_socket_alloc();
	must(kern->sock);
	kern->family = FAMILY;
	stream = fuzz_built ? buf : in.p;
	stream_len = fuzz_built ? make(&in, buf, sizeof(buf)) : in.left;
	ask(kern, what);
	kern_close(kern);
	return 0;
}

static size_t make_seed(struct input *in, uint8_t *buf, size_t size)
{
	memset(buf, (int)in_u8(in), STEP);
	return STEP + make(in, buf + STEP, size - STEP);
}

FUZZ_BEGIN(make_seed, (void)0)
