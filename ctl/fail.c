// SPDX-License-Identifier: GPL-2.0
/* Failures in words, on stderr, and the exit status that each means. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "fail.h"
#include "kern.h"
#include "uapi/linux/mtag.h"
#include "utf8.h"

void fail_print(const char *format, ...)
{
	_cleanup_(freep) char *raw = NULL, *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&raw, format, args) < 0)
		raw = NULL;
	va_end(args);
	/* The names in it may hold anything. */
	text = raw ? utf8_clean_message(raw) : NULL;
	/* Keep the order if stdout and stderr go to the same place. */
	fflush(stdout);
	fprintf(stderr, "mtagctl: %s\n", text ? text : "out of memory");
}

int fail_open(int err)
{
	if (err == -ENOPROTOOPT) {
		fail_print("the mtag module is not loaded (modprobe mtag); "
			   "see `mtagctl doctor`");
		return CTL_ABSENT;
	}
	fail_print("cannot open netlink: %s", strerror(-err));
	return CTL_REFUSED;
}

int fail_device(void)
{
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV) {
		fail_print("no %s: the mtag module is not loaded (modprobe mtag)", MTAG_DEVICE);
		return CTL_ABSENT;
	}
	fail_print("cannot open %s: %s", MTAG_DEVICE, strerror(errno));
	return CTL_REFUSED;
}

/* " (the kernel says: …)", or "" if the kernel adds nothing to the error number. */
static const char *kernel_reason(const struct kern *kern, char *buf, size_t size)
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
	const char *why = kernel_reason(kern, buf, sizeof(buf));
	bool tracks = !strcmp(verb, "track") || !strcmp(verb, "untrack");

	switch (-err) {
	case ENOPROTOOPT:
		return fail_open(err);
	case ESRCH:
		fail_print("no process %d%s", (int)pid, why);
		break;
	case ENOENT:
		fail_print("process %d is not tracked%s", (int)pid, why);
		break;
	case EPERM:
	case EACCES:
		/* The kernel's own words are more precise than ours. */
		fail_print("cannot %s process %d: permission denied%s", verb, (int)pid,
			   *why	    ? why
			   : tracks ? "; CAP_SYS_PTRACE over it is required"
				    : "; the right to read its smaps is required");
		break;
	default:
		fail_print("cannot %s process %d: %s%s", verb, (int)pid, strerror(-err), why);
	}
	return CTL_REFUSED;
}

int fail_all(const struct kern *kern, const char *what, int err)
{
	char buf[300];

	if (err == -ENOPROTOOPT)
		return fail_open(err);
	fail_print("cannot %s: %s%s", what, strerror(-err), kernel_reason(kern, buf, sizeof(buf)));
	return CTL_REFUSED;
}

int fail_memory(void)
{
	fail_print("out of memory");
	return CTL_REFUSED;
}

void fail_incomplete(void)
{
	fail_print("processes start and end too fast to list them; some may be missing");
}
