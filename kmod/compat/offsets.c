// SPDX-License-Identifier: GPL-2.0
/*
 * Not part of the module: numbers that entry.S needs of C, of which kbuild makes offsets.h.
 */
#include <linux/hash.h>
#include <linux/kbuild.h>
#include "../record.h"
#include "compat.h"

int main(void)
{
	DEFINE(MTAG_GOLDEN_RATIO, GOLDEN_RATIO_64);
	DEFINE(MTAG_RECORD_BITS, MTAG_RECORD_BITS);
	/* Above what CALL_C saves and one return address. */
	DEFINE(MTAG_PARENT, (IS_ENABLED(CONFIG_FRAME_POINTER) + 6 + 1) * sizeof(long));
#if MTAG_SINCE(6, 2) && !MTAG_SINCE(6, 15)
	DEFINE(MTAG_TASK_IN_PCPU_HOT, offsetof(struct pcpu_hot, current_task));
#endif
#if !MTAG_SINCE(6, 10)
	DEFINE(MTAG_SWAP_FREE_ONE, 1);
#endif
	return 0;
}
