/* SPDX-License-Identifier: GPL-2.0 */
/* Swap areas, and a file system other than tmpfs. */
#ifndef MTAG_TESTS_SWAP_H
#define MTAG_TESTS_SWAP_H

#include "tap.h"

#define FS "/run/mtag-fs"

/* ext4 on a RAM disk at FS. Its pages are file pages; the RAM disk's own are not reclaimable. */
bool real_fs(void);

bool swap_zram(void);
bool swap_file(void);
int swapoff_all(void);

/* Reclaims a range; returns true once all of it is in swap. */
bool page_out(void *start, size_t len);

/* Reclaims as much of a range as it can: not pages that others share, for example. */
void reclaim(void *start, size_t len);

/* Reclaims from the control group until all of a range is in swap. */
bool reclaim_group(const char *p, size_t pages);

#endif
