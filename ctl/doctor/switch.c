// SPDX-License-Identifier: GPL-2.0
/* Checks what an administrator may have switched off or not mounted. */
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor/host.h"
#include "doctor/switch.h"
#include "probe.h"

void check_ftrace_switch(const struct host *host, struct check *check)
{
	char value[16];

	(void)host;
	if (!probe_line("/proc/sys/kernel/ftrace_enabled", value, sizeof(value)))
		check_set(check, CHECK_WARN, "This kernel has no function tracing, or hides it.",
			  "kernel.ftrace_enabled does not exist");
	else if (strcmp(value, "1") != 0)
		check_set(check, CHECK_FAIL, "sysctl kernel.ftrace_enabled=1",
			  "tracing is switched off: kernel.ftrace_enabled is %s, so hooks are "
			  "neither installed nor called",
			  value);
	else
		check_set(check, CHECK_OK, NULL, "kernel.ftrace_enabled is 1");
}

void check_kprobes_switch(const struct host *host, struct check *check)
{
	bool used = !strcmp(host->info.mode, "kprobes");
	char value[16];

	if (!probe_line("/sys/kernel/debug/kprobes/enabled", value, sizeof(value)))
		check_set(check, CHECK_OK, NULL, "on, unless root has switched them off");
	else if (*value != '0')
		check_set(check, CHECK_OK, NULL, "on");
	else
		check_set(
			check, used ? CHECK_FAIL : CHECK_WARN,
			"echo 1 > /sys/kernel/debug/kprobes/enabled",
			used ? "kprobes are switched off: no hook fires"
			     : "kprobes are switched off; without function tracing mtag needs them");
}

/* @entry: " place type " of a line of mounts(5). */
static bool is_mounted(const char *entry)
{
	_cleanup_(freep) char *mounts =
		probe_read(*probe_root() ? "/proc/1/mounts" : "/proc/self/mounts");

	return mounts && strstr(mounts, entry);
}

/* @filesystem: "\tname\n" of a line of /proc/filesystems. */
static bool is_known(const char *filesystem)
{
	_cleanup_(freep) char *list = probe_read("/proc/filesystems");

	return !list || strstr(list, filesystem);
}

void check_tracefs(const struct host *host, struct check *check)
{
	(void)host;
	if (is_mounted(" /sys/kernel/tracing tracefs ") ||
	    is_mounted(" /sys/kernel/debug/tracing tracefs "))
		check_set(check, CHECK_OK, NULL, "mounted");
	else
		check_set(check, CHECK_WARN,
			  "Only this command uses it: mount -t tracefs none "
			  "/sys/kernel/tracing",
			  "not mounted");
}

void check_debugfs(const struct host *host, struct check *check)
{
	(void)host;
	if (is_mounted(" /sys/kernel/debug debugfs "))
		check_set(check, CHECK_OK, NULL, "mounted");
	else if (!is_known("\tdebugfs\n"))
		check_set(
			check, CHECK_WARN,
			"Only /sys/kernel/debug/mtag needs it. Boot a kernel with CONFIG_DEBUG_FS, "
			"without debugfs=off.",
			"this kernel has none");
	else
		check_set(check, CHECK_WARN,
			  "Only /sys/kernel/debug/mtag needs it: mount -t debugfs none "
			  "/sys/kernel/debug",
			  "not mounted");
}
