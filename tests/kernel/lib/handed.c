// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of /dev/mtag by a given descriptor, which another process may have opened, and passing descriptors from one
 * process to another.
 */
#include "handed.h"
#include <sys/socket.h>
#include <sys/un.h>

int fd_call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

int fd_attach(int fd)
{
	struct mtag_ioc_attach a = {.size = sizeof(a)};

	return fd_call(fd, MTAG_IOC_ATTACH, &a);
}

int fd_make(int fd, uint32_t parent, const char *name)
{
	struct mtag_ioc_child c = {.size = sizeof(c), .parent = parent, .name_len = strlen(name)};
	int error;

	c.name = (uintptr_t)name;
	error = fd_call(fd, MTAG_IOC_CHILD, &c);
	return error ? error : (int)c.id;
}

int fd_path(int fd, uint32_t tag, char *buf, size_t len)
{
	struct mtag_ioc_path p = {.size = sizeof(p), .tag = tag, .buf_len = len};

	p.buf = (uintptr_t)buf;
	return fd_call(fd, MTAG_IOC_PATH, &p);
}

int fd_default(int fd, uint32_t tag)
{
	struct mtag_ioc_default d = {.size = sizeof(d), .tag = tag};

	return fd_call(fd, MTAG_IOC_DEFAULT, &d);
}

int pair[2];

void hand_over(int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control};
	struct cmsghdr *c;

	m.msg_controllen = sizeof(control);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	must(sendmsg(pair[0], &m, 0));
}

int taken(void)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control};
	int fd;

	m.msg_controllen = sizeof(control);
	must(recvmsg(pair[1], &m, 0));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}
