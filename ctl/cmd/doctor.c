// SPDX-License-Identifier: GPL-2.0
/* mtagctl doctor: runs a list of checks, each of which fills in one line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "doctor/fit.h"
#include "doctor/host.h"
#include "doctor/live.h"
#include "doctor/load.h"
#include "doctor/switch.h"
#include "fail.h"
#include "option.h"
#include "probe.h"

/* Returns false after an error message. */
static bool is_directory(const char *path)
{
	struct stat st;

	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return true;
		errno = ENOTDIR;
	}
	fail_print("doctor: cannot look below '%s': %s", path, strerror(errno));
	return false;
}

static void refuse_module(const char *file)
{
	fail_print("doctor: '%s' is no module of mtag's", file);
}

/* Returns false after an error message: without modinfo, only this tells that it is no module. */
static bool is_file(const char *file)
{
	struct stat st;

	if (access(file, R_OK) || stat(file, &st)) {
		fail_print("doctor: cannot read the module '%s': %s", file, strerror(errno));
		return false;
	}
	if (S_ISREG(st.st_mode))
		return true;
	refuse_module(file);
	return false;
}

/* When a check applies. LIVE asks the running kernel, LOADED its module. */
enum { ALWAYS, LIVE, LOADED };

static const struct {
	const char *name;
	check_run *run;
	int when;
} all_checks[] = {
	{"kernel", check_kernel, ALWAYS},
	{"module", check_module, ALWAYS},
	{"netlink", check_family, LIVE},
	{"device", check_device, LIVE},
	{"hooks", check_hooks, LOADED},
	{"health", check_health, LOADED},
	{"configuration", check_config, ALWAYS},
	{"symbols", check_symbols, ALWAYS},
	{"function tracing", check_tracer, ALWAYS},
	{"ftrace switch", check_ftrace_switch, ALWAYS},
	{"kprobes switch", check_kprobes_switch, ALWAYS},
	{"tracefs", check_tracefs, ALWAYS},
	{"debugfs", check_debugfs, ALWAYS},
	{"lockdown", check_lockdown, ALWAYS},
	{"module signature", check_signature, ALWAYS},
	{"kernel headers", check_headers, ALWAYS},
};

static bool check_applies(const struct host *host, int when)
{
	return when == ALWAYS || (when == LIVE && !*probe_root()) ||
	       (when == LOADED && !host->family);
}

static int doctor_options(struct ctl *ctl, int argc, char **argv, const char **file)
{
	static const struct option longs[] = {{"module", required_argument, NULL, 'm'},
					      {"root", required_argument, NULL, 'r'},
					      OPTION_LONGS};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":m:r:" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 'm')
			*file = optarg;
		else
			probe_set_root(optarg);
	}
	return opt;
}

static int print_checks(const struct ctl *ctl, const struct check *checks, size_t n)
{
	struct fmt fmt;

	fmt_init(&fmt, ctl);
	if (ctl->json)
		return doctor_json(&fmt, checks, n);
	doctor_text(&fmt, checks, n);
	return 0;
}

int cmd_doctor(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(host_clear) struct host host = {0};
	struct check checks[ARRAY_SIZE(all_checks)] = {0};
	const char *file = NULL;
	bool failed = false;
	size_t n = 0;
	int opt = doctor_options(ctl, argc, argv, &file);

	if (opt != OPTION_DONE)
		return option_status(opt);
	if (argc > optind) {
		fail_print("doctor takes no arguments");
		return CTL_USAGE;
	}
	if (*probe_root() && !is_directory(probe_root()))
		return CTL_REFUSED;
	if (file && !is_file(file))
		return CTL_REFUSED;
	host_look(&host, file);
	if (file && !host_may_be_ours(&host)) {
		refuse_module(file);
		return CTL_REFUSED;
	}
	for (size_t i = 0; i < ARRAY_SIZE(all_checks); i++) {
		if (!check_applies(&host, all_checks[i].when))
			continue;
		checks[n].name = all_checks[i].name;
		all_checks[i].run(&host, &checks[n]);
		failed |= checks[n++].status == CHECK_FAIL;
	}
	if (print_checks(ctl, checks, n))
		return fail_memory();
	return !host.loaded ? CTL_ABSENT : failed ? CTL_REFUSED : CTL_OK;
}
