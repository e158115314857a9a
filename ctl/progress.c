// SPDX-License-Identifier: GPL-2.0
/* Shows how far something is, a few times a second. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define QUIET_MS 1000
#define EACH_MS	 200

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

void progress_wait(struct progress *progress)
{
	uint64_t at = now();

	if (!progress)
		return;
	if (!progress->began)
		progress->began = at;
	if (at - progress->began < QUIET_MS || at - progress->shown < EACH_MS ||
	    !isatty(STDERR_FILENO))
		return;
	progress->shown = at;
	fprintf(stderr, "\rmtagctl: %s %zu of %zu\033[K", progress->what, progress->done + 1,
		progress->all);
}

void progress_show(struct progress *progress, size_t done)
{
	progress->done = done;
	progress_wait(progress);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = 0;
}
