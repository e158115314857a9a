// SPDX-License-Identifier: GPL-2.0
/* Listens to the events that the module sends, on a socket of its own. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <netlink/netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/genl/ctrl.h>

#include "decode.h"
#include "listen.h"

/* Room for the events of a second in which nobody reads. */
#define RECEIVE_BUFFER (8 << 20)

struct listener {
	struct nl_sock *sock;
	int family;
	char buffer[1 << 16];
	struct nlmsghdr *next;
	int left; /* bytes from @next on */
};

int listen_fd(const struct listener *listener)
{
	return nl_socket_get_fd(listener->sock);
}

/* Receives a datagram, if one has come. */
static int receive(struct listener *listener)
{
	ssize_t n = recv(listen_fd(listener), listener->buffer, sizeof(listener->buffer), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	listener->next = (struct nlmsghdr *)listener->buffer;
	listener->left = (int)n;
	return n > 0;
}

/* The kernel notifies listeners of its family list when ours goes; our own events just stop. */
static bool says_gone(const struct listener *listener, struct nlmsghdr *hdr)
{
	struct nlattr *id;

	if (hdr->nlmsg_type != GENL_ID_CTRL || !genlmsg_valid_hdr(hdr, 0) ||
	    genlmsg_hdr(hdr)->cmd != CTRL_CMD_DELFAMILY)
		return false;
	id = nla_find(genlmsg_attrdata(genlmsg_hdr(hdr), 0), genlmsg_attrlen(genlmsg_hdr(hdr), 0),
		      CTRL_ATTR_FAMILY_ID);
	return id && nla_len(id) >= (int)sizeof(uint16_t) && nla_get_u16(id) == listener->family;
}

int listen_next(struct listener *listener, struct event *event)
{
	for (;;) {
		struct nlmsghdr *hdr = listener->next;
		int err;

		if (!nlmsg_ok(hdr, listener->left)) {
			err = receive(listener);
			if (err <= 0)
				return err;
			continue;
		}
		listener->next = nlmsg_next(hdr, &listener->left);
		if (says_gone(listener, hdr))
			return -ENOPROTOOPT;
		if (hdr->nlmsg_type != listener->family || !genlmsg_valid_hdr(hdr, 0) ||
		    genlmsg_hdr(hdr)->cmd != MTAG_CMD_EVENT)
			continue;
		err = decode_event(genlmsg_attrdata(genlmsg_hdr(hdr), 0),
				   genlmsg_attrlen(genlmsg_hdr(hdr), 0), event);
		return err ? err : 1;
	}
}

static int join(struct listener *listener)
{
	int group;

	listener->family = genl_ctrl_resolve(listener->sock, MTAG_GENL_NAME);
	if (listener->family < 0)
		return listener->family == -NLE_OBJ_NOTFOUND ? -ENOPROTOOPT : -EIO;
	group = genl_ctrl_resolve_grp(listener->sock, MTAG_GENL_NAME, MTAG_GENL_MCGRP_EVENTS);
	if (group < 0)
		return -EIO;
	if (nl_socket_add_membership(listener->sock, group) < 0)
		return -EPERM;
	group = genl_ctrl_resolve_grp(listener->sock, "nlctrl", "notify");
	return group < 0 || nl_socket_add_membership(listener->sock, group) < 0 ? -EIO : 0;
}

int listen_open(struct listener **out)
{
	const int room = RECEIVE_BUFFER;
	struct listener *listener = calloc(1, sizeof(*listener));
	int err = -ENOMEM;

	*out = NULL;
	if (listener)
		listener->sock = nl_socket_alloc();
	if (!listener || !listener->sock)
		goto close;
	err = genl_connect(listener->sock) < 0 ? -EIO : 0;
	if (!err)
		err = join(listener);
	if (!err && nl_socket_set_nonblocking(listener->sock) < 0)
		err = -EIO;
	if (err)
		goto close;
	/* Without this, events are missed, and noticed, sooner. */
	setsockopt(listen_fd(listener), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	listener->next = (struct nlmsghdr *)listener->buffer;
	*out = listener;
	return 0;
close:
	listen_close(listener);
	return err;
}

void listen_close(struct listener *listener)
{
	if (!listener)
		return;
	nl_socket_free(listener->sock);
	free(listener);
}
