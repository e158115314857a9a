/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of <linux/mtag.h> and <linux/mtag_unwind.h> that no version may
 * change, for every compiler and word size. Needs no libc.
 */
#include <stddef.h>

#include "uapi/linux/mtag.h"
#include "uapi/linux/mtag_unwind.h"

#ifdef __cplusplus
#define ASSERT(what) static_assert(what, #what)
#else
#define ASSERT(what) _Static_assert(what, #what)
#endif
#define FIELD(type, field, offset, size)                                                           \
	ASSERT(offsetof(struct type, field) == (offset));                                          \
	ASSERT(sizeof(((struct type *)0)->field) == (size))

ASSERT(sizeof(struct mtag_ioc_attach) == 16);
FIELD(mtag_ioc_attach, size, 0, 4);
FIELD(mtag_ioc_attach, flags, 4, 4);
FIELD(mtag_ioc_attach, version, 8, 4);
FIELD(mtag_ioc_attach, default_tag, 12, 4);

ASSERT(sizeof(struct mtag_ioc_thread) == 24);
FIELD(mtag_ioc_thread, size, 0, 4);
FIELD(mtag_ioc_thread, flags, 4, 4);
FIELD(mtag_ioc_thread, word, 8, 8);
FIELD(mtag_ioc_thread, tag, 16, 4);
FIELD(mtag_ioc_thread, pad, 20, 4);

ASSERT(sizeof(struct mtag_ioc_child) == 32);
FIELD(mtag_ioc_child, size, 0, 4);
FIELD(mtag_ioc_child, flags, 4, 4);
FIELD(mtag_ioc_child, parent, 8, 4);
FIELD(mtag_ioc_child, name_len, 12, 4);
FIELD(mtag_ioc_child, name, 16, 8);
FIELD(mtag_ioc_child, id, 24, 4);
FIELD(mtag_ioc_child, pad, 28, 4);

ASSERT(sizeof(struct mtag_ioc_default) == 16);
FIELD(mtag_ioc_default, size, 0, 4);
FIELD(mtag_ioc_default, flags, 4, 4);
FIELD(mtag_ioc_default, tag, 8, 4);
FIELD(mtag_ioc_default, previous, 12, 4);

ASSERT(sizeof(struct mtag_ioc_range) == 48);
FIELD(mtag_ioc_range, size, 0, 4);
FIELD(mtag_ioc_range, flags, 4, 4);
FIELD(mtag_ioc_range, addr, 8, 8);
FIELD(mtag_ioc_range, len, 16, 8);
FIELD(mtag_ioc_range, tag, 24, 4);
FIELD(mtag_ioc_range, pad, 28, 4);
FIELD(mtag_ioc_range, moved, 32, 8);
FIELD(mtag_ioc_range, kept, 40, 8);

ASSERT(sizeof(struct mtag_ioc_usage) == 16 + 19 * 8);
FIELD(mtag_ioc_usage, size, 0, 4);
FIELD(mtag_ioc_usage, flags, 4, 4);
FIELD(mtag_ioc_usage, tag, 8, 4);
FIELD(mtag_ioc_usage, pad, 12, 4);
FIELD(mtag_ioc_usage, counters, 16, 19 * 8);

ASSERT(sizeof(struct mtag_ioc_path) == 24);
FIELD(mtag_ioc_path, size, 0, 4);
FIELD(mtag_ioc_path, flags, 4, 4);
FIELD(mtag_ioc_path, tag, 8, 4);
FIELD(mtag_ioc_path, buf_len, 12, 4);
FIELD(mtag_ioc_path, buf, 16, 8);

ASSERT(sizeof(struct mtag_ioc_notify) == 24);
FIELD(mtag_ioc_notify, size, 0, 4);
FIELD(mtag_ioc_notify, flags, 4, 4);
FIELD(mtag_ioc_notify, tag, 8, 4);
FIELD(mtag_ioc_notify, fd, 12, 4);
FIELD(mtag_ioc_notify, rss_bytes, 16, 8);

ASSERT(sizeof(struct mtag_ioc_stacks) == 16);
FIELD(mtag_ioc_stacks, size, 0, 4);
FIELD(mtag_ioc_stacks, one_in, 4, 4);
FIELD(mtag_ioc_stacks, fd, 8, 4);
FIELD(mtag_ioc_stacks, pad, 12, 4);

ASSERT(sizeof(struct mtag_ioc_unwind) == 24);
FIELD(mtag_ioc_unwind, size, 0, 4);
FIELD(mtag_ioc_unwind, fd, 4, 4);
FIELD(mtag_ioc_unwind, table, 8, 8);
FIELD(mtag_ioc_unwind, bytes, 16, 8);

ASSERT(sizeof(struct mtag_ioc_heap) == 32);
FIELD(mtag_ioc_heap, size, 0, 4);
FIELD(mtag_ioc_heap, flags, 4, 4);
FIELD(mtag_ioc_heap, address, 8, 8);
FIELD(mtag_ioc_heap, length, 16, 8);
FIELD(mtag_ioc_heap, tag, 24, 4);
FIELD(mtag_ioc_heap, stack, 28, 4);

ASSERT(sizeof(struct mtag_ioc_heap_read) == 56);
FIELD(mtag_ioc_heap_read, size, 0, 4);
FIELD(mtag_ioc_heap_read, flags, 4, 4);
FIELD(mtag_ioc_heap_read, pid, 8, 4);
FIELD(mtag_ioc_heap_read, pad, 12, 4);
FIELD(mtag_ioc_heap_read, offset, 16, 8);
FIELD(mtag_ioc_heap_read, length, 24, 8);
FIELD(mtag_ioc_heap_read, buffer, 32, 8);
FIELD(mtag_ioc_heap_read, address, 40, 8);
FIELD(mtag_ioc_heap_read, total, 48, 8);

ASSERT(sizeof(struct mtag_ioc_span) == 16);
FIELD(mtag_ioc_span, start, 0, 8);
FIELD(mtag_ioc_span, end, 8, 8);

ASSERT(sizeof(struct mtag_ioc_owners) == 56);
FIELD(mtag_ioc_owners, size, 0, 4);
FIELD(mtag_ioc_owners, flags, 4, 4);
FIELD(mtag_ioc_owners, pid, 8, 4);
FIELD(mtag_ioc_owners, nr_spans, 12, 4);
FIELD(mtag_ioc_owners, spans, 16, 8);
FIELD(mtag_ioc_owners, pages, 24, 8);
FIELD(mtag_ioc_owners, room, 32, 4);
FIELD(mtag_ioc_owners, filled, 36, 4);
FIELD(mtag_ioc_owners, span, 40, 4);
FIELD(mtag_ioc_owners, pad, 44, 4);
FIELD(mtag_ioc_owners, next, 48, 8);

ASSERT(sizeof(struct mtag_stack_frame) == 16);
FIELD(mtag_stack_frame, offset, 0, 8);
FIELD(mtag_stack_frame, image, 8, 4);
FIELD(mtag_stack_frame, flags, 12, 4);

ASSERT(MTAG_IOC_ATTACH == 0xb640);
ASSERT(MTAG_IOC_THREAD == 0xb641);
ASSERT(MTAG_IOC_CHILD == 0xb642);
ASSERT(MTAG_IOC_DEFAULT == 0xb643);
ASSERT(MTAG_IOC_RANGE == 0xb644);
ASSERT(MTAG_IOC_USAGE == 0xb645);
ASSERT(MTAG_IOC_PATH == 0xb646);
ASSERT(MTAG_IOC_NOTIFY == 0xb647);
ASSERT(MTAG_IOC_STACKS == 0xb648);
ASSERT(MTAG_IOC_UNWIND == 0xb649);
ASSERT(MTAG_IOC_HEAP == 0xb64a);
ASSERT(MTAG_IOC_HEAP_READ == 0xb64b);
ASSERT(MTAG_IOC_OWNERS == 0xb64c);

/* Numbers that travel: append only. */
ASSERT(MTAG_ATTACH_BY_THREAD == 1);
ASSERT(MTAG_ATTACH_BY_TID == 2);
ASSERT(MTAG_ATTACH_BY_MAP == 4);
ASSERT(MTAG_RANGE_PRESENT == 1);
ASSERT(MTAG_HEAP_ASK == 1 && MTAG_HEAP_STACK == 2 && MTAG_HEAP_NO_STACK == 1);
ASSERT(MTAG_OWNER_TAG == 0xffff && MTAG_OWNER_PRESENT == 0x10000 && MTAG_OWNER_SWAP == 0x20000);
ASSERT(MTAG_OWNER_ZERO == 0x40000 && MTAG_OWNER_FILE == 0x80000);
ASSERT(MTAG_ID_UNTAGGED == 0 && MTAG_ID_KSM == 1 && MTAG_ID_FIRST == 2 && MTAG_ID_MAX == 65534);
ASSERT(MTAG_C_ANON == 0 && MTAG_C_FILE == 1 && MTAG_C_SHMEM == 2 && MTAG_C_SWAP == 3);
ASSERT(MTAG_C_PEAK == 4 && MTAG_C_VIRT == 5 && MTAG_C_TOUCHED == 6 && MTAG_C_MMAPS == 7);
ASSERT(MTAG_C_SHMDTS == 12 && MTAG_C_MMAP_BYTES == 13 && MTAG_C_SHMDT_BYTES == 18);
ASSERT(MTAG_C_NR >= 19);
ASSERT(MTAG_CMD_INFO_GET == 1 && MTAG_CMD_TRACK == 4 && MTAG_CMD_EVENT == 8);
ASSERT(MTAG_CMD_LIMIT == 9);
ASSERT(MTAG_A_PROC_PID == 2 && MTAG_A_TAG == 13 && MTAG_A_TAG_COUNTERS == 17);
ASSERT(MTAG_A_AUDIT_KERNEL_RSS == 18 && MTAG_A_INFO_VERSION == 23 && MTAG_A_EVENT_KIND == 33);
ASSERT(MTAG_A_EVENT_TAG == 34 && MTAG_A_LIMIT_BYTES == 35 && MTAG_A_LIMIT_FD == 36);
ASSERT(MTAG_A_STACK_UNCOUNTED == 67);
ASSERT(MTAG_A_TAG_BRIEF == 68);
ASSERT(MTAG_A_STACK_NAMED == 69 && MTAG_A_STACK_NUMBER == 70);
ASSERT(MTAG_STACK_EXACT == 1);
ASSERT(MTAG_STACK_TAKEN == 0 && MTAG_STACK_NONE == 1 && MTAG_STACK_KERNEL == 2);
ASSERT(MTAG_STACK_UNSAMPLED == 3);
ASSERT(MTAG_STACK_COMPLETE == 0 && MTAG_STACK_NO_TABLE == 1 && MTAG_STACK_ABSENT == 2);
ASSERT(MTAG_STACK_DEEP == 3 && MTAG_STACK_NO_EXEC == 4);

ASSERT(sizeof(struct mtag_unwind_header) == 64);
FIELD(mtag_unwind_header, magic, 0, 4);
FIELD(mtag_unwind_header, version, 4, 4);
FIELD(mtag_unwind_header, first, 8, 4);
FIELD(mtag_unwind_header, blocks, 12, 4);
FIELD(mtag_unwind_header, rows, 16, 4);
FIELD(mtag_unwind_header, recipes, 20, 4);
FIELD(mtag_unwind_header, id_size, 24, 4);
FIELD(mtag_unwind_header, pad, 28, 4);
FIELD(mtag_unwind_header, id, 32, 32);

ASSERT(sizeof(struct mtag_unwind_recipe) == 12);
FIELD(mtag_unwind_recipe, off, 0, 4);
FIELD(mtag_unwind_recipe, bp, 4, 2);
FIELD(mtag_unwind_recipe, bx, 6, 2);
FIELD(mtag_unwind_recipe, kind, 8, 1);
FIELD(mtag_unwind_recipe, reg, 9, 1);
FIELD(mtag_unwind_recipe, add, 10, 1);
FIELD(mtag_unwind_recipe, flags, 11, 1);

ASSERT(MTAG_UNWIND_MAGIC == 0x5755474d && MTAG_UNWIND_VERSION == 1);
ASSERT(MTAG_UNWIND_SHIFT == 10 && MTAG_UNWIND_LOW == 16 && MTAG_UNWIND_SAME == -32768);
ASSERT(MTAG_UNWIND_NONE == 0 && MTAG_UNWIND_STOP == 1 && MTAG_UNWIND_END == 2);
ASSERT(MTAG_UNWIND_SP == 3 && MTAG_UNWIND_BP == 4 && MTAG_UNWIND_REG == 5);
ASSERT(MTAG_UNWIND_DEREF == 6 && MTAG_UNWIND_PLT == 7 && MTAG_UNWIND_SIGNAL == 8);
ASSERT(MTAG_UNWIND_AT_BP == 1 && MTAG_UNWIND_LOST_BP == 2 && MTAG_UNWIND_LOST_BX == 4);
