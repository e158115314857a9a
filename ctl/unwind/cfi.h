/* SPDX-License-Identifier: GPL-2.0 */
/* The call frame information of an ELF file: .eh_frame, range by range. */
#ifndef MTAGCTL_UNWIND_CFI_H
#define MTAGCTL_UNWIND_CFI_H

#include <stdint.h>

#include "unwind/image.h"
#include "uapi/linux/mtag_unwind.h"

/* For the addresses from @start up to @end there is @recipe. Returns 0, or what cfi_read() is to return. */
typedef int cfi_func(void *data, uint64_t start, uint64_t end,
		     const struct mtag_unwind_recipe *recipe);

/*
 * Calls @func for each range, by ascending address. Returns 0 or a negative errno: -ENODATA, there is
 * no .eh_frame; -E2BIG, it takes too long to read; or what @func returned.
 */
int cfi_read(const struct image *image, cfi_func *func, void *data);

#endif
