/* SPDX-License-Identifier: GPL-2.0 */
/* UFFDIO_MOVE, from kernels newer than the libc's headers. */
#ifndef MTAG_TESTS_UFFD_MOVE_H
#define MTAG_TESTS_UFFD_MOVE_H

#include "test.h"
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

/* Opens a userfaultfd with UFFDIO_MOVE; -1: the kernel has none. */
int uffd_open(void);

bool has_uffd_move(void);

/* From now on a missing page there waits for the userfaultfd: touch only mapped pages. */
void uffd_register(int uffd, void *p, size_t len);

#endif
