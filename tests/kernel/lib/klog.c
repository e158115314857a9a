// SPDX-License-Identifier: GPL-2.0
/* What the kernel's log says from some moment on. */
#include "klog.h"

int log_open(void)
{
	int fd = must(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));

	must(lseek(fd, 0, SEEK_END));
	return fd;
}

bool log_says_oom(int fd, pid_t pid)
{
	char line[8192], wanted[64];
	ssize_t n;

	snprintf(wanted, sizeof(wanted), "Killed process %d (", pid);
	while ((n = read(fd, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		line[n > 0 ? n : 0] = '\0';
		if (strstr(line, wanted))
			return true;
	}
	return false;
}
