/* SPDX-License-Identifier: GPL-2.0 */
/* UFFDIO_MOVE, of kernels newer than the libc's headers. */
#ifndef MTAG_TESTS_UFFD_MOVE_H
#define MTAG_TESTS_UFFD_MOVE_H

#include "lib.h"
#include <linux/userfaultfd.h>

#ifndef UFFDIO_MOVE
struct uffdio_move {
	__u64 dst, src, len, mode;
	__s64 move;
};
#define UFFDIO_MOVE			 _IOWR(UFFDIO, 0x05, struct uffdio_move)
#define UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES 2
#define UFFD_FEATURE_MOVE		 (1 << 16)
#endif

/* A userfaultfd that moves; -1 where there is none. */
static int uffd_open(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_MOVE};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 && !ioctl(fd, UFFDIO_API, &api))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

UNUSED static bool has_uffd_move(void)
{
	int fd = uffd_open();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What is missing there now waits for the userfaultfd: only what is mapped may be touched. */
static void uffd_register(int uffd, void *p, size_t len)
{
	struct uffdio_register reg = {.range = {(uintptr_t)p, len},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};

	must(ioctl(uffd, UFFDIO_REGISTER, &reg));
}

#endif
