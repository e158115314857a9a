// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls /dev/mtag. It is opened for each call, so that the module can be unloaded at any time. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/linux/mtag.h"

static _Atomic uint64_t failures;

void mtag__failed(void)
{
	atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}

uint64_t mtag_failures(void)
{
	return atomic_load_explicit(&failures, memory_order_relaxed);
}

/*
 * The errors of open(2) without a module. Access is the calling thread's, of which a sandbox may
 * have taken it: the others go on.
 */
static bool open_error_is_final(int err)
{
	return err == ENOENT || err == ENXIO || err == ENODEV || err == ENOTDIR;
}

int mtag__call_device(unsigned long cmd, void *arg, bool *gone)
{
	int saved = errno, err = 0;
	bool strange;
	long fd = syscall(SYS_openat, AT_FDCWD, MTAG_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		err = errno;
		*gone = open_error_is_final(err);
		if (*gone)
			err = ENOENT;
	} else {
		if (syscall(SYS_ioctl, fd, cmd, arg) < 0)
			err = errno;
		/* The device is not mtag's. Later on the module may be older than a function. */
		strange = err == ENOTTY && cmd == MTAG_IOC_ATTACH;
		*gone = err == ESRCH || strange;
		if (strange)
			err = ENOENT;
		syscall(SYS_close, fd);
	}
	errno = saved;
	return -err;
}
