/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of mtagctl: processes that wait for the lock of a file. */
#ifndef CTL_LOCK_H
#define CTL_LOCK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the child @pid waits for a lock, within 10 s; false if it ends. */
static inline bool waits(pid_t pid)
{
	char line[200], number[32];

	snprintf(number, sizeof(number), " %d ", (int)pid);
	for (int i = 0; i < 10000 && !waitpid(pid, NULL, WNOHANG); i++) {
		FILE *locks = fopen("/proc/locks", "re");
		bool found = false;

		while (locks && !found && fgets(line, sizeof(line), locks))
			found = strstr(line, "->") && strstr(line, number);
		if (locks)
			fclose(locks);
		if (found)
			return true;
		usleep(1000);
	}
	return false;
}

#endif
