/* SPDX-License-Identifier: GPL-2.0 */
/*
 * USS and PSS by tag, asked for by netlink, and how they compare with smaps. No other program runs
 * for that, which would map the C library, too, and so change what it measures.
 */
#ifndef MTAG_TESTS_SHARES_H
#define MTAG_TESTS_SHARES_H

#include "netlink.h"

#define SHARES_MAX 256

/* By tag, and the sums; rows: tags that were told. */
struct shares {
	int error;
	unsigned int rows;
	struct share tag[SHARES_MAX], sum;
};

struct shares shares(pid_t pid);

/*
 * Checks the sums of a process, which must not run meanwhile, with smaps and smaps_rollup. USS:
 * exactly. PSS: what mtag rounds down to bytes for each tag, and smaps to KiB for each line, is of
 * one sum.
 */
PRINTF(2, 3) bool shares_exact(pid_t pid, const char *format, ...);

/* The same for one tag that has all pages of a range, and no others. */
PRINTF(5, 6)
bool shares_own(pid_t pid, mtag_t tag, const void *start, size_t len, const char *format, ...);

/* Both, for processes of which each has a range for one tag alone; 0 ends @pid. */
void shares_family(const char *what, const pid_t *pid, mtag_t as, char *p, size_t len);

#endif
