/* SPDX-License-Identifier: GPL-2.0 */
/* What the module says of itself, and what it can be told. */
#ifndef MTAG_BENCH_HEALTH_H
#define MTAG_BENCH_HEALTH_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEALTH "/sys/kernel/debug/mtag/health"
#define LINGER "/sys/module/mtag/parameters/linger_ms"

/* Returns -1 if there is no such number. */
static inline double health(const char *name)
{
	char line[128], key[64];
	double value, found = -1;
	FILE *f = fopen(HEALTH, "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %lf", key, &value) == 2 && !strcmp(key, name))
			found = value;
	if (f)
		fclose(f);
	return found;
}

/* How long hooks stay in after the last tracked process. */
static inline void set_linger(const char *ms)
{
	int fd = open(LINGER, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, ms, strlen(ms)) < 0) {
		perror(LINGER);
		exit(1);
	}
	close(fd);
}

#endif
