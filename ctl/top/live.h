/* SPDX-License-Identifier: GPL-2.0 */
/* Top on a terminal. */
#ifndef MTAGCTL_TOP_LIVE_H
#define MTAGCTL_TOP_LIVE_H

#include "format/fmt.h"
#include "top/feed.h"
#include "top/view.h"

/*
 * Shows and refreshes until the user quits, or @count times if that is not 0. Returns the exit
 * status.
 */
int live_run(struct feed *feed, struct view *view, struct fmt *fmt, unsigned long count);
/* The message for what feed_refresh() returned, and the exit status. */
int live_fail(const struct feed *feed, int err);

#endif
