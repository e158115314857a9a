// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks that sleep: none does while the hooks are taken out.
 */
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include "mtag.h"
#include "sleep.h"

/* Hooks that may sleep; only the sum over CPUs means anything. */
static DEFINE_PER_CPU(int, mtag_sleepers);
static bool no_sleep;

/* From here on hooks may sleep. */
void mtag_sleep_allow(void)
{
	WRITE_ONCE(no_sleep, false);
}

/*
 * How many hooks sleep, while none begins to. One that counted itself in before may count itself
 * out on another CPU, and then is seen in or not at all: never out alone.
 */
static int sleeping(void)
{
	int cpu, sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(mtag_sleepers, cpu));
	return sum;
}

/*
 * ftrace takes a task that sleeps for one that has left the trampoline: nobody
 * may sleep there when it is taken away.
 */
void mtag_sleep_forbid(void)
{
	WRITE_ONCE(no_sleep, true);
	/* Pairs with mtag_sleep_begin(): who missed no_sleep is counted. */
	smp_mb();
	while (sleeping())
		schedule_timeout_uninterruptible(1);
}

/**
 * mtag_sleep_begin() - may this hook sleep?
 *
 * Not when preemption is disabled, as by kprobes or when another tracer shares
 * the function, nor while the hooks are being removed.
 * Return: true, and then mtag_sleep_end() is owed; or false.
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
	/* On the same CPU: else mtag_sleep_forbid() might see this one alone. */
	if (!allowed)
		this_cpu_dec(mtag_sleepers);
	preempt_enable_notrace();
	return allowed;
}

void mtag_sleep_end(void)
{
	this_cpu_dec(mtag_sleepers);
}

/**
 * mtag_sleep_gfp() - how may this hook allocate, and take spinlocks?
 * @sleeps:	filled: mtag_sleep_end() is owed
 *
 * Return: flags, or 0: not at all (see mtag_sleep_may_lock()), and the event is lost.
 */
gfp_t mtag_sleep_gfp(bool *sleeps)
{
	*sleeps = mtag_sleep_begin();
	if (*sleeps)
		return MTAG_GFP;
	if (!mtag_sleep_may_lock())
		return 0;
	return MTAG_GFP_NOWAIT;
}
