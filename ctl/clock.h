/* SPDX-License-Identifier: GPL-2.0 */
/* Times in nanoseconds. */
#ifndef MTAGCTL_CLOCK_H
#define MTAGCTL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

#endif
