// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls /dev/mtag. It is opened for each call, so that the module can be unloaded at any time. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/stat.h>

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

/* The /dev by which the process attached, as directory() says; 0: it did not. */
static _Atomic uint64_t attached_by;

/* Which directory is /dev to the calling thread: its device, 32 bits, and inode. 0: it sees none. */
static uint64_t directory(void)
{
	struct statx st;

	if (syscall(SYS_statx, AT_FDCWD, "/dev", 0, STATX_INO, &st) < 0)
		return 0;
	return ((uint64_t)st.stx_dev_major << 20 | st.stx_dev_minor) << 32 ^ st.stx_ino;
}

/* The errors of open(2) without a module. */
static bool is_absent(int err)
{
	return err == ENOENT || err == ENXIO || err == ENODEV || err == ENOTDIR;
}

/*
 * Is there no module, where there is no device? What may be opened, and what is found, is the
 * calling thread's. A sandbox may have taken access from it; after chroot(2), or in a mount namespace
 * of its own, it sees another /dev. The others go on, and so may it again.
 */
static bool absence_is_final(void)
{
	uint64_t by = atomic_load(&attached_by);

	return !by || by == directory();
}

int mtag__call_device(unsigned long cmd, void *arg, bool *gone)
{
	int saved = errno, err = 0;
	bool strange;
	long fd = syscall(SYS_openat, AT_FDCWD, MTAG_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		err = is_absent(errno) ? ENOENT : errno;
		*gone = err == ENOENT && absence_is_final();
	} else {
		if (syscall(SYS_ioctl, fd, cmd, arg) < 0)
			err = errno;
		else if (cmd == MTAG_IOC_ATTACH)
			atomic_store(&attached_by, directory());
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
