// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "fail.h"

int fail_open(int err)
{
	if (err == -ENOPROTOOPT) {
		ctl_error("the mtag module is not loaded (modprobe mtag); "
			  "`mtagctl doctor` says more");
		return CTL_ABSENT;
	}
	ctl_error("cannot open netlink: %s", strerror(-err));
	return CTL_REFUSED;
}

/* " (the kernel says: …)", or nothing where it says what the error number does. */
static const char *reason(const struct kern *kern, char *buf, size_t size)
{
	const char *why = kern_why(kern);

	buf[0] = '\0';
	if (*why && strcmp(why, "no such process") != 0 &&
	    strcmp(why, "this process is not tracked") != 0)
		snprintf(buf, size, " (the kernel says: %s)", why);
	return buf;
}

int fail_pid(const struct kern *kern, const char *verb, pid_t pid, int err)
{
	char buf[300];
	const char *why = reason(kern, buf, sizeof(buf));
	bool tracks = !strcmp(verb, "track") || !strcmp(verb, "untrack");

	switch (-err) {
	case ESRCH:
		ctl_error("no process %d%s", (int)pid, why);
		break;
	case ENOENT:
		ctl_error("process %d is not tracked%s", (int)pid, why);
		break;
	case EPERM:
	case EACCES:
		/* The kernel's own words are the more precise. */
		ctl_error("cannot %s process %d: permission denied%s", verb, (int)pid,
			  *why	   ? why
			  : tracks ? ", needs CAP_SYS_PTRACE over it"
				   : ", needs the right to read its smaps");
		break;
	default:
		ctl_error("cannot %s process %d: %s%s", verb, (int)pid, strerror(-err), why);
	}
	return CTL_REFUSED;
}

int fail_all(const struct kern *kern, const char *what, int err)
{
	char buf[300];

	ctl_error("cannot %s: %s%s", what, strerror(-err), reason(kern, buf, sizeof(buf)));
	return CTL_REFUSED;
}

int fail_memory(void)
{
	ctl_error("out of memory");
	return CTL_REFUSED;
}

void note_incomplete(void)
{
	ctl_error("processes come and go too fast; some may be missing");
}
