/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by all measurements: the instruction-counting clock, and calls that must not fail. */
#ifndef MTAG_BENCH_CLOCK_H
#define MTAG_BENCH_CLOCK_H

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define must(call)                                                                                 \
	({                                                                                         \
		__typeof__(call) must_ = (call);                                                   \
		if ((long)must_ == -1) {                                                           \
			perror(#call);                                                             \
			_exit(1);                                                                  \
		}                                                                                  \
		must_;                                                                             \
	})

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static inline double min(double a, double b)
{
	return a < b ? a : b;
}

#endif
