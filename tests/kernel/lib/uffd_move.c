// SPDX-License-Identifier: GPL-2.0
/* UFFDIO_MOVE, from kernels newer than the libc's headers. */
#include "uffd_move.h"

int uffd_open(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_MOVE};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 && !ioctl(fd, UFFDIO_API, &api))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool has_uffd_move(void)
{
	int fd = uffd_open();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void uffd_register(int uffd, void *p, size_t len)
{
	struct uffdio_register reg = {.range = {(uintptr_t)p, len},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};

	must(ioctl(uffd, UFFDIO_REGISTER, &reg));
}
