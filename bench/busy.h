/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the instructions of everything on the one CPU except idling. The clock jumps while a
 * program waits for the host to open a file; this count does not.
 */
#ifndef MTAG_BENCH_BUSY_H
#define MTAG_BENCH_BUSY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The scheduler adds up what a task ran for when it gives way: so sleep, and let others finish. */
static inline double busy(void)
{
	FILE *f;
	char line[256];
	double ran = -1;

	usleep(20000);
	f = fopen("/proc/schedstat", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu0 %*s %*s %*s %*s %*s %*s %lf", &ran) == 1)
			break;
	if (f)
		fclose(f);
	if (ran < 0) {
		fprintf(stderr, "bench: no /proc/schedstat\n");
		exit(1);
	}
	return ran;
}

#endif
