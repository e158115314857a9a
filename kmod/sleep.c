// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps hooks from sleeping while the hooks are removed.
 */
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include "mtag.h"
#include "sleep.h"

/* Number of hooks that may sleep. Only the sum over CPUs is meaningful. */
static DEFINE_PER_CPU(int, mtag_sleepers);
static bool no_sleep;

/* Allows hooks to sleep from now on. */
void mtag_sleep_allow(void)
{
	WRITE_ONCE(no_sleep, false);
}

/*
 * Returns the number of hooks that sleep, while no hook may begin to. A hook that counted itself
 * in before may count itself out on another CPU. The sum then sees the increment alone, both or
 * neither, but never the decrement alone.
 */
static int hooks_sleeping(void)
{
	int cpu, sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(mtag_sleepers, cpu));
	return sum;
}

/*
 * ftrace assumes that a sleeping task has left the trampoline, so no task may
 * sleep in a hook when the trampoline is freed.
 */
void mtag_sleep_forbid(void)
{
	WRITE_ONCE(no_sleep, true);
	/* Pairs with mtag_sleep_begin(): a hook that missed no_sleep is counted. */
	smp_mb();
	while (hooks_sleeping())
		schedule_timeout_uninterruptible(1);
}

/**
 * mtag_sleep_begin() - may this hook sleep?
 *
 * A hook must not sleep with preemption disabled, as by kprobes or when another
 * tracer shares the function, nor while the hooks are being removed.
 * Return: true, and the caller must mtag_sleep_end(); or false.
 */
bool mtag_sleep_begin(void)
{
	bool allowed;

	if (!preemptible())
		return false;
	preempt_disable_notrace();
	this_cpu_inc(mtag_sleepers);
	/* Pairs with mtag_sleep_forbid(): it sees the count or this sees no_sleep. */
	smp_mb();
	allowed = !READ_ONCE(no_sleep);
	/* On the same CPU: otherwise mtag_sleep_forbid() might see the decrement alone. */
	if (!allowed)
		this_cpu_dec(mtag_sleepers);
	preempt_enable_notrace();
	return allowed;
}

/* Ends what mtag_sleep_begin() began, if that returned true; perhaps on another CPU. */
void mtag_sleep_end(void)
{
	this_cpu_dec(mtag_sleepers);
}

/**
 * mtag_sleep_gfp() - how may this hook allocate, and take spinlocks?
 * @sleeps:	filled; if true, the caller must mtag_sleep_end()
 *
 * Return: allocation flags; 0 if the hook may do neither (see mtag_lock_begin()): the event is
 * lost.
 */
gfp_t mtag_sleep_gfp(bool *sleeps)
{
	*sleeps = mtag_sleep_begin();
	if (*sleeps)
		return MTAG_GFP;
	return IS_ENABLED(CONFIG_PREEMPT_RT) ? 0 : MTAG_GFP_NOWAIT;
}
