/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks that sleep or allocate; sleep.c.
 */
#ifndef MTAG_SLEEP_H
#define MTAG_SLEEP_H

#include <linux/gfp_types.h>
#include <linux/preempt.h>
#include <linux/types.h>

void mtag_sleep_allow(void);
void mtag_sleep_forbid(void);

/* A hook brackets code that sleeps or allocates by these. */
bool mtag_sleep_begin(void);
void mtag_sleep_end(void);
gfp_t mtag_sleep_gfp(bool *sleeps);

/*
 * May a hook allocate and take spinlocks? On PREEMPT_RT spinlocks sleep, and
 * another tracer that shares the hooked function may have disabled preemption.
 */
static inline bool mtag_sleep_may_lock(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) || preemptible();
}

#endif /* MTAG_SLEEP_H */
