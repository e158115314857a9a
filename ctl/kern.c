// SPDX-License-Identifier: GPL-2.0
/*
 * Talks to the kernel: sends a request of the generic netlink family "mtag" and receives all of the
 * reply. A dump that changed while it was read is repeated.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <netlink/netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/genl/ctrl.h>
#include <linux/netlink.h>

#include "ctl.h"
#include "decode.h"
#include "kern.h"
#include "stacks/decode.h"
#include "utf8.h"

#define RECEIVE_BUFFER (1 << 20)
#define MESSAGE_BUFFER (1 << 16)
#define DUMP_TRIES     5

struct kern {
	struct nl_sock *sock;
	int family;
	char why[256];
};

/* One request: what to do with the messages of its reply, and how it ended. */
struct request {
	struct kern *kern;
	int (*decode)(struct nlattr *attrs, int len, void *into);
	void *into;
	int err;
	bool done;
	bool replied;
};

/* libnl numbers its errors in its own way. */
static int errno_of(int nle)
{
	switch (-nle) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_DUMP_INTR:
		return -EINTR;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	default:
		return -EIO;
	}
}

/* The text that the kernel appends to an error or to the end of a dump. */
static void keep_extack(struct kern *kern, const struct nlmsghdr *hdr, size_t offset)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1], *msg;
	_cleanup_(freep) char *raw = NULL, *text = NULL;

	offset = NLMSG_ALIGN(offset);
	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS) || offset >= hdr->nlmsg_len)
		return;
	if (nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)((char *)hdr + offset),
		      (int)(hdr->nlmsg_len - offset), NULL) < 0)
		return;
	msg = tb[NLMSGERR_ATTR_MSG];
	if (!msg)
		return;
	raw = strndup(nla_data(msg), (size_t)nla_len(msg));
	text = raw ? utf8_clean(raw, false) : NULL;
	snprintf(kern->why, sizeof(kern->why), "%s", text ? text : "");
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct request *request = arg;
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct genlmsghdr *genl;

	if (hdr->nlmsg_type != request->kern->family || !request->decode || request->err)
		return NL_OK;
	if (!genlmsg_valid_hdr(hdr, 0)) {
		request->err = -EBADMSG;
		return NL_OK;
	}
	genl = genlmsg_hdr(hdr);
	request->err =
		request->decode(genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), request->into);
	request->replied = true;
	return NL_OK;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct request *request = arg;
	struct nlmsghdr *hdr = nlmsg_hdr(msg);

	request->done = true;
	if (nlmsg_datalen(hdr) >= (int)sizeof(int)) {
		int err = *(int *)nlmsg_data(hdr);

		if (err < 0) {
			request->err = err;
			keep_extack(request->kern, hdr, NLMSG_HDRLEN + sizeof(int));
		}
	}
	return NL_OK;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct request *request = arg;

	(void)msg;
	request->done = true;
	return NL_OK;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct request *request = arg;
	const struct nlmsghdr *hdr = (struct nlmsghdr *)((char *)error - NLMSG_HDRLEN);
	size_t offset = NLMSG_HDRLEN + sizeof(*error);

	(void)from;
	request->done = true;
	request->err = error->error < 0 ? error->error : -EIO;
	/* What netlink says for a module that is being unloaded. */
	if (request->err == -EPROTONOSUPPORT)
		request->err = -ENOPROTOOPT;
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED) && error->msg.nlmsg_len > NLMSG_HDRLEN)
		offset += error->msg.nlmsg_len - NLMSG_HDRLEN;
	keep_extack(request->kern, hdr, offset);
	return NL_STOP;
}

static struct nl_cb *alloc_callbacks(struct request *request)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	if (cb) {
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, request);
		nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, request);
		nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, request);
		nl_cb_err(cb, NL_CB_CUSTOM, on_error, request);
	}
	return cb;
}

/* Returns NULL out of memory. */
static struct nl_msg *new_message(struct kern *kern, uint8_t command, int flags, pid_t pid)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg &&
	    genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, kern->family, 0, flags, command,
			MTAG_GENL_VERSION) &&
	    (!pid || !nla_put_u32(msg, MTAG_A_PROC_PID, (uint32_t)pid)))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Sends @msg, which it frees, and receives the reply. -EINTR: the dump changed meanwhile; repeat it. */
static int send_and_receive(struct request *request, struct nl_msg *msg)
{
	struct kern *kern = request->kern;
	struct nl_cb *cb = msg ? alloc_callbacks(request) : NULL;
	bool interrupted = false;
	int err;

	if (!cb) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	kern->why[0] = '\0';
	err = nl_send_auto(kern->sock, msg);
	err = err < 0 ? errno_of(err) : 0;
	nlmsg_free(msg);
	while (!err && !request->done) {
		int n = nl_recvmsgs(kern->sock, cb);

		if (n == -NLE_DUMP_INTR)
			interrupted = true;
		else if (n < 0 && !request->done)
			err = errno_of(n);
	}
	nl_cb_put(cb);
	if (err || request->err)
		return err ? err : request->err;
	return interrupted ? -EINTR : 0;
}

static int tags_into(struct nlattr *attrs, int len, void *snap)
{
	return decode_tags(attrs, len, snap);
}

static int procs_into(struct nlattr *attrs, int len, void *snap)
{
	return decode_proc(attrs, len, snap);
}

static int audit_into(struct nlattr *attrs, int len, void *audit)
{
	return decode_audit(attrs, len, audit);
}

static int info_into(struct nlattr *attrs, int len, void *info)
{
	return decode_info(attrs, len, info);
}

static int past_into(struct nlattr *attrs, int len, void *ledger)
{
	return decode_past(attrs, len, ledger);
}

/* A dump about one process, or about all. @flag: an attribute of the request; or 0. */
static struct nl_msg *new_dump(struct kern *kern, uint8_t command, pid_t pid, int flag)
{
	struct nl_msg *msg = new_message(kern, command, NLM_F_DUMP, pid);

	if (!msg || !flag || !nla_put_flag(msg, flag))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

static int dump_processes(struct kern *kern, uint8_t command, pid_t pid, int flag,
			  int (*decode)(struct nlattr *, int, void *), struct snap *snap)
{
	bool interrupted;
	int err = -EINTR;

	for (int i = 0; i < DUMP_TRIES && err == -EINTR; i++) {
		struct request request = {.kern = kern, .decode = decode, .into = snap};

		snap_clear(snap);
		err = send_and_receive(&request, new_dump(kern, command, pid, flag));
	}
	interrupted = err == -EINTR;
	if (!err || interrupted)
		err = snap_finish(snap);
	/* Of a dump that failed in its middle the tags have neither paths nor an order: nobody is to look at them. */
	if (err)
		snap_clear(snap);
	return !err && interrupted ? KERN_INCOMPLETE : err;
}

static int do_request(struct kern *kern, uint8_t command, pid_t pid,
		      int (*decode)(struct nlattr *, int, void *), void *into)
{
	struct request request = {.kern = kern, .decode = decode, .into = into};
	int err = send_and_receive(&request, new_message(kern, command, NLM_F_ACK, pid));

	return !err && decode && !request.replied ? -EBADMSG : err;
}

static int dump_tags(struct kern *kern, uint8_t command, pid_t pid, struct snap *snap)
{
	int err = dump_processes(kern, command, pid, MTAG_A_TAG_BRIEF, tags_into, snap);

	/* From a module that does not know the flag. */
	if (err == -EINVAL)
		err = dump_processes(kern, command, pid, 0, tags_into, snap);
	return !err && pid && !snap->n_procs ? -ESRCH : err;
}

int kern_tags(struct kern *kern, pid_t pid, struct snap *snap)
{
	return dump_tags(kern, MTAG_CMD_TAG_GET, pid, snap);
}

int kern_shares(struct kern *kern, pid_t pid, struct snap *snap)
{
	return dump_tags(kern, MTAG_CMD_PSS_GET, pid, snap);
}

int kern_procs(struct kern *kern, struct snap *snap)
{
	return dump_processes(kern, MTAG_CMD_PROC_GET, 0, 0, procs_into, snap);
}

int kern_audit(struct kern *kern, pid_t pid, struct audit *audit)
{
	*audit = (struct audit){0};
	return do_request(kern, MTAG_CMD_AUDIT, pid, audit_into, audit);
}

int kern_track(struct kern *kern, pid_t pid, bool track)
{
	return do_request(kern, track ? MTAG_CMD_TRACK : MTAG_CMD_UNTRACK, pid, NULL, NULL);
}

int kern_info(struct kern *kern, struct info *info)
{
	*info = (struct info){0};
	return do_request(kern, MTAG_CMD_INFO_GET, 0, info_into, info);
}

int kern_limit(struct kern *kern, pid_t pid, uint16_t tag, uint64_t bytes, int eventfd)
{
	struct nl_msg *msg = new_message(kern, MTAG_CMD_LIMIT, NLM_F_ACK, pid);
	struct request request = {.kern = kern};

	if (msg &&
	    (nla_put_u16(msg, MTAG_A_TAG_ID, tag) || nla_put_u64(msg, MTAG_A_LIMIT_BYTES, bytes) ||
	     nla_put_u32(msg, MTAG_A_LIMIT_FD, (uint32_t)eventfd))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return send_and_receive(&request, msg);
}

int kern_history(struct kern *kern, struct ledger *ledger)
{
	struct request request = {.kern = kern, .decode = past_into, .into = ledger};
	int err =
		send_and_receive(&request, new_message(kern, MTAG_CMD_HISTORY_GET, NLM_F_DUMP, 0));

	ledger_finish(ledger);
	return err;
}

int kern_history_clear(struct kern *kern)
{
	return do_request(kern, MTAG_CMD_HISTORY_CLEAR, 0, NULL, NULL);
}

int kern_stack_start(struct kern *kern, pid_t pid, uint32_t one_in, int event)
{
	struct nl_msg *msg = new_message(kern, MTAG_CMD_STACK_START, NLM_F_ACK, pid);
	struct request request = {.kern = kern};

	if (msg && (nla_put_u32(msg, MTAG_A_STACK_ONE_IN, one_in) ||
		    nla_put_u32(msg, MTAG_A_STACK_FD, (uint32_t)event))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return send_and_receive(&request, msg);
}

static int traces_into(struct nlattr *attrs, int len, void *traces)
{
	return decode_traces(attrs, len, traces);
}

static int stacks_once(struct kern *kern, pid_t pid, uint32_t older, bool named,
		       struct traces *traces)
{
	struct request request = {.kern = kern, .decode = traces_into, .into = traces};
	struct nl_msg *msg = new_message(kern, MTAG_CMD_STACK_GET, NLM_F_DUMP, pid);

	traces_clear(traces);
	traces->pid = pid;
	if (msg && ((older && nla_put_u32(msg, MTAG_A_STACK_OLDER, older)) ||
		    (named && nla_put_flag(msg, MTAG_A_STACK_NAMED)))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return send_and_receive(&request, msg);
}

int kern_stacks(struct kern *kern, pid_t pid, uint32_t older, struct traces *traces)
{
	bool named = true;
	int err = -EINTR;

	for (int i = 0; i < DUMP_TRIES && err == -EINTR; i++) {
		err = stacks_once(kern, pid, older, named, traces);
		/* A module that knows no numbers refuses the flag. */
		if (err == -EINVAL && named) {
			named = false;
			err = stacks_once(kern, pid, older, named, traces);
		}
	}
	return err;
}

const char *kern_why(const struct kern *kern)
{
	return kern ? kern->why : "";
}

int kern_open(struct kern **out)
{
	struct kern *kern = calloc(1, sizeof(*kern));
	const int on = 1;
	int err = -ENOMEM;

	*out = NULL;
	if (kern)
		kern->sock = nl_socket_alloc();
	if (!kern || !kern->sock)
		goto close;
	err = genl_connect(kern->sock);
	if (err < 0) {
		err = errno_of(err);
		goto close;
	}
	/* Without these it is only slower, or the kernel gives no reasons. */
	nl_socket_set_buffer_size(kern->sock, RECEIVE_BUFFER, 0);
	setsockopt(nl_socket_get_fd(kern->sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	nl_socket_set_msg_buf_size(kern->sock, MESSAGE_BUFFER);
	kern->family = genl_ctrl_resolve(kern->sock, MTAG_GENL_NAME);
	if (kern->family < 0) {
		err = kern->family == -NLE_OBJ_NOTFOUND ? -ENOPROTOOPT : errno_of(kern->family);
		goto close;
	}
	*out = kern;
	return 0;
close:
	kern_close(kern);
	return err;
}

void kern_close(struct kern *kern)
{
	if (!kern)
		return;
	nl_socket_free(kern->sock);
	free(kern);
}
