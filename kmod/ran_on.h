/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPUs that a space has run on, as bits of a word: with more CPUs than bits several share
 * one, and whoever looks for one finds them all.
 */
#ifndef MTAG_RAN_ON_H
#define MTAG_RAN_ON_H

#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/math.h>
#include <linux/smp.h>

/* Marks this CPU in @cpus. Context: preemption disabled. */
static inline void mtag_ran_on_this_cpu(unsigned long *cpus)
{
	unsigned int bit = raw_smp_processor_id() % BITS_PER_LONG;

	if (!test_bit(bit, cpus))
		set_bit(bit, cpus);
}

/* Returns the next CPU after @cpu with a mark in @cpus; at least nr_cpu_ids at the end. */
static inline int mtag_ran_on_next(unsigned long cpus, int cpu)
{
	unsigned long rest;

	for (cpu++; cpu < nr_cpu_ids; cpu = round_down(cpu, BITS_PER_LONG) + BITS_PER_LONG) {
		rest = cpus & (~0UL << (cpu % BITS_PER_LONG));
		if (rest)
			return round_down(cpu, BITS_PER_LONG) + __ffs(rest);
	}
	return cpu;
}

#endif /* MTAG_RAN_ON_H */
