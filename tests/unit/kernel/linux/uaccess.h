/* SPDX-License-Identifier: GPL-2.0 */
/* See types.h: user memory, which the test defines. It is only read where the kernel could read it. */
#ifndef UNIT_LINUX_UACCESS_H
#define UNIT_LINUX_UACCESS_H

#include <linux/types.h>
#include <sys/user.h> /* PAGE_SIZE */

#define __user
#define TASK_SIZE_MAX ((1UL << 47) - PAGE_SIZE)

/* Reads a word, unless nothing is there. A test that includes this header has it. */
static inline bool unit_user_word(const u64 *addr, u64 *value);

extern int unit_user_access; /* how often reading was allowed and not ended, twice */

static inline void pagefault_disable(void)
{
	unit_user_access++;
}

static inline void pagefault_enable(void)
{
	unit_user_access--;
}

#define user_access_begin(addr, size) ((void)(addr), (void)(size), ++unit_user_access)
#define user_access_end()	      (unit_user_access--)

#define unsafe_get_user(value, addr, absent)                                                       \
	do {                                                                                       \
		if (!unit_user_access || !unit_user_word(addr, &(value)))                          \
			goto absent;                                                               \
	} while (0)

#endif
