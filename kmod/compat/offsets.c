// SPDX-License-Identifier: GPL-2.0
/*
 * Constants of C for entry.S: kbuild makes offsets.h from them. Not part of the module.
 */
#include <linux/hash.h>
#include <linux/kbuild.h>
#include "../record.h"
#include "compat.h"

int main(void)
{
	DEFINE(MTAG_GOLDEN_RATIO, GOLDEN_RATIO_64);
	DEFINE(MTAG_RECORD_BITS, MTAG_RECORD_BITS);
	/* The stack slot above what CALL_C saves and one return address. */
	DEFINE(MTAG_PARENT, (IS_ENABLED(CONFIG_FRAME_POINTER) + 6 + 1) * sizeof(long));
#if MTAG_SINCE(6, 2) && !MTAG_SINCE(6, 15)
	DEFINE(MTAG_TASK_IN_PCPU_HOT, offsetof(struct pcpu_hot, current_task));
#endif
#if !MTAG_SINCE(6, 10)
	DEFINE(MTAG_SWAP_FREE_ONE, 1);
#endif
	return 0;
}
