/* SPDX-License-Identifier: GPL-2.0 */
/* What files of kmod/ that unit tests compile find instead of the kernel's header: its types. */
#ifndef UNIT_LINUX_TYPES_H
#define UNIT_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include_next <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#endif
