/* SPDX-License-Identifier: GPL-2.0 */
/* See types.h: nobody waits. */
#ifndef UNIT_LINUX_SCHED_H
#define UNIT_LINUX_SCHED_H

static inline void cond_resched(void)
{
}

#endif
