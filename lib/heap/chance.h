/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_CHANCE_H
#define MTAG_LIB_HEAP_CHANCE_H

#include <stdint.h>

/* The next random number of a generator that was seeded with anything but 0. */
uint64_t mtag__chance_next(uint64_t *state);

/* Bytes that are passed over before the next sample: exponential with this mean, rounded down. */
uint64_t mtag__chance_distance(uint64_t *state, uint64_t period);

/*
 * How many objects one stands for that was sampled with so many of its bytes drawn, times
 * 2^MTAG_HEAP_WEIGHT_SHIFT.
 */
uint64_t mtag__chance_weight(uint64_t drawn, uint64_t period);

/* Whether an object that was sampled with one weight stays so with another, not lower one. */
int mtag__chance_stays(uint64_t *state, uint64_t weight, uint64_t later);

/*
 * The new weight of a sample that grows. @later is the weight of its new size; growth of that
 * amount alone would have the weight @more. The new weight is lower by what is carried by other
 * objects, which become samples through the same growth.
 */
uint64_t mtag__chance_grown(uint64_t weight, uint64_t later, uint64_t more);

/* @value times a weight, rounded up or down so that the mean is right. */
uint64_t mtag__chance_times(uint64_t *state, uint64_t value, uint64_t weight);

#endif
