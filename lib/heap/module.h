/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this library asks of the module. */
#ifndef MTAG_LIB_HEAP_MODULE_H
#define MTAG_LIB_HEAP_MODULE_H

#include "uapi/linux/mtag.h"

#ifndef MTAG_IOC_HEAP
#define MTAG_IOC_HEAP _IO(MTAG_IOC_MAGIC, 0x4a)
#define MTAG_HEAP_ASK 0x1

struct mtag_ioc_heap {
	__u32 size;
	__u32 flags;
	__u64 address;
	__u64 length;
	__u32 tag;
	__u32 pad;
};
#endif

#endif
