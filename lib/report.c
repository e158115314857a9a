// SPDX-License-Identifier: LGPL-2.1-or-later
/* The calls that are one ioctl. */
#include "internal.h"

#include <errno.h>
#include <string.h>

#include "uapi/linux/mtag.h"

_Static_assert(MTAG_UNTAGGED == MTAG_ID_UNTAGGED, "mtag.h and the kernel agree");
_Static_assert(MTAG_PATH_BYTES == MTAG_PATH_MAX, "mtag.h and the kernel agree");

/* mtag.h defines the flag, too; if the values differ, the compiler reports a redefinition. */
_Static_assert(MTAG_RANGE_PRESENT == 1, "mtag.h and the kernel agree");

int mtag_default(mtag_t tag)
{
	struct mtag_ioc_default arg = {.size = sizeof(arg), .tag = tag};

	return mtag__ioctl(MTAG_IOC_DEFAULT, &arg);
}

int mtag_range(void *addr, size_t len, mtag_t tag, unsigned flags)
{
	struct mtag_ioc_range arg = {
		.size = sizeof(arg),
		.flags = flags,
		.addr = (uintptr_t)addr,
		.len = len,
		.tag = tag,
	};

	return mtag__ioctl(MTAG_IOC_RANGE, &arg);
}

int mtag_usage(mtag_t tag, struct mtag_usage *u)
{
	struct mtag_ioc_usage arg = {.size = sizeof(arg), .tag = tag};
	const __u64 *c = arg.counters;
	int err;

	memset(u, 0, sizeof(*u));
	err = mtag__ioctl(MTAG_IOC_USAGE, &arg);
	if (err)
		return err;
	u->anon_bytes = c[MTAG_C_ANON];
	u->file_bytes = c[MTAG_C_FILE];
	u->shmem_bytes = c[MTAG_C_SHMEM];
	u->rss_bytes = u->anon_bytes + u->file_bytes + u->shmem_bytes;
	u->swap_bytes = c[MTAG_C_SWAP];
	u->peak_rss_bytes = c[MTAG_C_PEAK];
	u->virt_bytes = c[MTAG_C_VIRT];
	u->touched_bytes = c[MTAG_C_TOUCHED];
	u->mmaps = c[MTAG_C_MMAPS];
	u->munmaps = c[MTAG_C_MUNMAPS];
	u->mremaps = c[MTAG_C_MREMAPS];
	u->brks = c[MTAG_C_BRKS];
	u->shmats = c[MTAG_C_SHMATS];
	u->shmdts = c[MTAG_C_SHMDTS];
	u->mmap_bytes = c[MTAG_C_MMAP_BYTES];
	u->munmap_bytes = c[MTAG_C_MUNMAP_BYTES];
	u->mremap_bytes = c[MTAG_C_MREMAP_BYTES];
	u->brk_bytes = c[MTAG_C_BRK_BYTES];
	u->shmat_bytes = c[MTAG_C_SHMAT_BYTES];
	u->shmdt_bytes = c[MTAG_C_SHMDT_BYTES];
	return 0;
}

int mtag_notify(mtag_t tag, uint64_t rss_bytes, int eventfd)
{
	struct mtag_ioc_notify arg = {
		.size = sizeof(arg),
		.tag = tag,
		.fd = eventfd,
		.rss_bytes = rss_bytes,
	};

	return mtag__ioctl(MTAG_IOC_NOTIFY, &arg);
}

const char *mtag_path(mtag_t tag, char *buf, size_t len)
{
	struct mtag_ioc_path arg = {
		.size = sizeof(arg),
		.tag = tag,
		.buf_len = len < MTAG_PATH_MAX ? (__u32)len : MTAG_PATH_MAX,
		.buf = (uintptr_t)buf,
	};
	int err = 0;

	if (tag != MTAG_UNTAGGED)
		err = mtag__ioctl(MTAG_IOC_PATH, &arg);
	else if (!len)
		err = -ERANGE;
	else
		buf[0] = '\0';
	if (!err)
		return buf;
	errno = -err;
	return NULL;
}
