// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls /dev/mtag. It is opened for each call, so that the module can be unloaded at any time. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/linux/mtag.h"

/*
 * UNTRIED -> ATTACHED -> LOST, or UNTRIED -> ABSENT, which mtag_init() may yet
 * turn into ATTACHED. LOST is final: tags that the program still holds mean
 * nothing to a module loaded later, or in another tree.
 */
enum { UNTRIED, ATTACHED, ABSENT, LOST };

static atomic_int state;
static _Atomic uint64_t failures;

void mtag__failed(void)
{
	atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}

uint64_t mtag_failures(void)
{
	return atomic_load_explicit(&failures, memory_order_relaxed);
}

/* The errors of open(2) without a module, or without access to it. */
static bool open_error_is_final(int err)
{
	return err == ENOENT || err == ENXIO || err == ENODEV || err == ENOTDIR || err == EACCES ||
	       err == EPERM;
}

/* Does one ioctl. Returns 0 or -errno. Sets *@gone if the module does not know this process. */
static int call_device(unsigned long cmd, void *arg, bool *gone)
{
	int saved = errno, err = 0;
	long fd = syscall(SYS_openat, AT_FDCWD, MTAG_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		err = errno;
		*gone = open_error_is_final(err);
		if (*gone && err != EACCES && err != EPERM)
			err = ENOENT;
	} else {
		if (syscall(SYS_ioctl, fd, cmd, arg) < 0)
			err = errno;
		/* ENOTTY: the device is not mtag's. */
		*gone = err == ESRCH || err == ENOTTY;
		if (err == ENOTTY)
			err = ENOENT;
		syscall(SYS_close, fd);
	}
	errno = saved;
	return -err;
}

static void change_state(int from, int to)
{
	atomic_compare_exchange_strong(&state, &from, to);
}

int mtag_init(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg)};
	bool gone = false;
	int err;

	switch (atomic_load_explicit(&state, memory_order_acquire)) {
	case ATTACHED:
		return 0;
	case LOST:
		return -ESRCH;
	}
	err = call_device(MTAG_IOC_ATTACH, &arg, &gone);
	/* Another thread may have succeeded meanwhile: only UNTRIED becomes ABSENT. */
	if (err) {
		change_state(UNTRIED, ABSENT);
	} else {
		change_state(UNTRIED, ATTACHED);
		change_state(ABSENT, ATTACHED);
	}
	return err;
}

bool mtag_active(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == ATTACHED;
}

int mtag__attached(void)
{
	switch (atomic_load_explicit(&state, memory_order_acquire)) {
	case ATTACHED:
		return 0;
	case ABSENT:
		return -ENOENT;
	case LOST:
		return -ESRCH;
	}
	return mtag_init();
}

int mtag__ioctl(unsigned long cmd, void *arg)
{
	bool gone = false;
	int err = mtag__attached();

	if (err)
		return err;
	err = call_device(cmd, arg, &gone);
	if (gone)
		change_state(ATTACHED, LOST);
	return err;
}
