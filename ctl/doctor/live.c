// SPDX-License-Identifier: GPL-2.0
/* Checks how the loaded module is doing. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor/host.h"
#include "doctor/live.h"
#include "probe.h"

#define HOOKS_FILE "/sys/kernel/debug/mtag/hooks"

void check_family(const struct host *host, struct check *check)
{
	if (!host->family)
		check_set(check, CHECK_OK, NULL, "family \"%s\" answers", MTAG_GENL_NAME);
	else if (!host->loaded)
		check_set(check, CHECK_FAIL, "The module provides it.",
			  "no family \"" MTAG_GENL_NAME "\"");
	else
		check_set(check, CHECK_FAIL,
			  "The module may be loading or unloading: try again. "
			  "If that does not help: rmmod mtag && modprobe mtag; dmesg | grep mtag",
			  "%s",
			  host->family == -ENOPROTOOPT ? "no family \"" MTAG_GENL_NAME "\""
						       : strerror(-host->family));
}

void check_device(const struct host *host, struct check *check)
{
	if (!access(MTAG_DEVICE, R_OK | W_OK))
		check_set(check, CHECK_OK, NULL, "%s is usable", MTAG_DEVICE);
	else if (errno == EACCES || errno == EPERM)
		check_set(check, CHECK_FAIL,
			  "Install the udev rule 60-mtag.rules, which makes it usable by everyone.",
			  "%s is not usable by this user", MTAG_DEVICE);
	else
		check_set(check, CHECK_FAIL,
			  host->loaded ? "udev or devtmpfs should have created it."
				       : "The module provides it.",
			  "no %s", MTAG_DEVICE);
}

/* What the table of the hooks says, which only root may read. */
struct hooks {
	unsigned long missed; /* calls */
	unsigned direct;      /* functions that call mtag directly */
};

static struct hooks read_hooks(void)
{
	_cleanup_(freep) char *table = probe_read(HOOKS_FILE);
	struct hooks hooks = {0};
	char *save = NULL, mode[16];
	unsigned long missed;

	if (!table || !strtok_r(table, "\n", &save)) /* the headings */
		return hooks;
	for (char *line; (line = strtok_r(NULL, "\n", &save));)
		if (sscanf(line, "%*s %15s %*s %*s %lu", mode, &missed) == 2) {
			hooks.missed += missed;
			hooks.direct += !strcmp(mode, "direct");
		}
	return hooks;
}

void check_hooks(const struct host *host, struct check *check)
{
	const struct info *info = &host->info;
	const char *where = info->installed ? "installed" : "not installed, as nothing is tracked";
	struct hooks hooks = read_hooks();

	if (hooks.missed)
		check_set(check, CHECK_WARN,
			  "Something blocks kprobes, such as another tracer. See " HOOKS_FILE ".",
			  "the hooks missed %lu calls", hooks.missed);
	else if (!strcmp(info->mode, "kprobes"))
		check_set(
			check, CHECK_WARN,
			"The numbers are right; function tracing, which is missing, would cost less.",
			"by kprobes, %s", where);
	else if (hooks.direct)
		check_set(check, CHECK_OK, NULL, "by %s (%u functions call mtag directly), %s",
			  info->mode, hooks.direct, where);
	else
		check_set(check, CHECK_OK, NULL, "by %s, %s", info->mode, where);
}

void check_health(const struct host *host, struct check *check)
{
	const struct info *info = &host->info;
	bool bad = info->drift || info->lost || info->overflow;

	check_set(check, bad ? CHECK_WARN : CHECK_OK,
		  "Some events were not recorded. `mtagctl audit` shows which processes are "
		  "affected; please report drift.",
		  "drift %" PRIu64 " pages, lost %" PRIu64 ", tags refused %" PRIu64
		  ", repairs %" PRIu64 "; %" PRIu32 " processes tracked, %" PRIu64
		  " ended; %" PRIu64 " KiB held",
		  info->drift, info->lost, info->overflow, info->repairs, info->procs, info->ended,
		  info->memory / 1024);
}
