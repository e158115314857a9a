/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks that sleep or allocate; sleep.c.
 */
#ifndef MTAG_SLEEP_H
#define MTAG_SLEEP_H

#include <linux/gfp_types.h>
#include <linux/types.h>

void mtag_sleep_allow(void);
void mtag_sleep_forbid(void);

/* A hook brackets code that sleeps or allocates by these. */
bool mtag_sleep_begin(void);
void mtag_sleep_end(void);
gfp_t mtag_sleep_gfp(bool *sleeps);

/*
 * May a hook allocate with what does not sleep, free, and take spinlocks? If so, it must
 * mtag_lock_end(). On PREEMPT_RT all of these may sleep.
 */
static inline bool mtag_lock_begin(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) || mtag_sleep_begin();
}

static inline void mtag_lock_end(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		mtag_sleep_end();
}

#endif /* MTAG_SLEEP_H */
