// SPDX-License-Identifier: GPL-2.0
/* Is this kernel fit for mtag? A list of checks, each of which fills in one line. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ctl.h"
#include "fail.h"
#include "format/format.h"
#include "probe.h"

#define HOOKS_FILE "/sys/kernel/debug/mtag/hooks"

/**
 * struct host - what the checks look at
 * @config:	the kernel's configuration, or NULL
 * @loaded:	the module is
 * @family:	0 or -errno of opening the netlink family
 * @info:	zero unless @loaded and @family
 */
struct host {
	struct utsname uts;
	char *config;
	bool loaded;
	int family;
	struct info info;
};

/* What the module hooks; a name of older kernels and that of newer ones. */
static const char *const needed[] = {
	"page_add_new_anon_rmap|folio_add_new_anon_rmap",
	"page_add_anon_rmap|folio_add_anon_rmap_ptes",
	"page_add_file_rmap|folio_add_file_rmap_ptes",
	"page_remove_rmap|folio_remove_rmap_ptes",
	"copy_page_range",
	"folio_migrate_flags",
	"mm_init",
	"__mmdrop",
};

static const char *const wanted[] = {
	"collapse_huge_page", "try_to_merge_one_page",
	"uprobe_dup_mmap",    "ldt_dup_context",
	"mmap_region",	      "perf_event_mmap",
	"do_brk_flags",	      "vma_merge|vma_merge_new_range",
	"move_page_tables",   "swap_readpage|swap_read_folio",
};

static void set(struct check *check, enum check_status status, const char *advice,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

static void set(struct check *check, enum check_status status, const char *advice,
		const char *format, ...)
{
	va_list args;

	check->status = status;
	check->advice = advice;
	va_start(args, format);
	vsnprintf(check->detail, sizeof(check->detail), format, args);
	va_end(args);
}

static void check_kernel(const struct host *host, struct check *check)
{
	unsigned int major = 0, minor = 0;

	sscanf(host->uts.release, "%u.%u", &major, &minor);
	if (strcmp(host->uts.machine, "x86_64") != 0)
		set(check, CHECK_WARN, "mtag is tested on x86_64 only.", "%s %s", host->uts.release,
		    host->uts.machine);
	else if (major < 6 || (major == 6 && minor < 1))
		set(check, CHECK_FAIL, "mtag needs Linux 6.1 or later.", "%s", host->uts.release);
	else
		set(check, CHECK_OK, NULL, "%s", host->uts.release);
}

static void check_module(const struct host *host, struct check *check)
{
	char version[64];

	if (!host->loaded) {
		set(check, CHECK_FAIL,
		    "Load it: modprobe mtag. If there is no such module: make dkms as root.",
		    "not loaded");
		return;
	}
	probe_line("/sys/module/mtag/version", version, sizeof(version));
	set(check, CHECK_OK, NULL, "loaded, version %s",
	    *host->info.version ? host->info.version
	    : *version		? version
				: "unknown");
}

static void check_family(const struct host *host, struct check *check)
{
	if (!host->family)
		set(check, CHECK_OK, NULL, "family \"%s\" answers", MTAG_GENL_NAME);
	else
		set(check, CHECK_FAIL,
		    host->loaded ? "See the kernel's log: dmesg | grep mtag."
				 : "It comes with the module.",
		    "%s",
		    host->family == -ENOPROTOOPT ? "no family \"" MTAG_GENL_NAME "\""
						 : strerror(-host->family));
}

static void check_device(const struct host *host, struct check *check)
{
	(void)host;
	if (!access(MTAG_DEVICE, R_OK | W_OK))
		set(check, CHECK_OK, NULL, "%s is usable", MTAG_DEVICE);
	else if (errno == EACCES || errno == EPERM)
		set(check, CHECK_FAIL,
		    "Install the udev rule 60-mtag.rules, which makes it usable for everybody.",
		    "%s is not usable by this user", MTAG_DEVICE);
	else
		set(check, CHECK_FAIL,
		    host->loaded ? "udev or devtmpfs should have made it."
				 : "It comes with the module.",
		    "no %s", MTAG_DEVICE);
}

static void check_config(const struct host *host, struct check *check)
{
	static const char *const options[] = {"MMU",	  "MODULES", "KPROBES",
					      "KALLSYMS", "NET",     "TRACEPOINTS"};
	char missing[128] = "";

	if (!host->config) {
		set(check, CHECK_WARN, "Nothing to do; the checks below look at its traces.",
		    "the kernel's configuration is nowhere to be found");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		size_t len = strlen(missing);

		if (!probe_config_has(host->config, options[i]))
			snprintf(missing + len, sizeof(missing) - len, " %s", options[i]);
	}
	if (*missing)
		set(check, CHECK_FAIL, "mtag does not run on this kernel; it needs these options.",
		    "lacks%s", missing);
	else
		set(check, CHECK_OK, NULL, "KPROBES, KALLSYMS and what else is needed are there");
}

static const char *tracefs(void)
{
	if (!access("/sys/kernel/tracing/available_filter_functions", F_OK))
		return "/sys/kernel/tracing/available_filter_functions";
	if (!access("/sys/kernel/debug/tracing/available_filter_functions", F_OK))
		return "/sys/kernel/debug/tracing/available_filter_functions";
	return NULL;
}

static void check_tracer(const struct host *host, struct check *check)
{
	static const char slower[] = "mtag then hooks by kprobes: the same numbers, more cost.";
	uint64_t found = 0;
	int missing, err;

	if (host->config && (!probe_config_has(host->config, "FUNCTION_TRACER") ||
			     !probe_config_has(host->config, "DYNAMIC_FTRACE_WITH_ARGS"))) {
		set(check, CHECK_WARN, slower, "no FUNCTION_TRACER with DYNAMIC_FTRACE_WITH_ARGS");
		return;
	}
	if (!tracefs()) {
		if (host->config)
			set(check, CHECK_OK, NULL, "configured; tracefs is not readable here");
		else
			set(check, CHECK_WARN, "Run this as root, with tracefs mounted.",
			    "cannot tell");
		return;
	}
	err = probe_symbols(tracefs(), 0, needed, ARRAY_SIZE(needed), &found);
	missing = (int)ARRAY_SIZE(needed) - __builtin_popcountll(found);
	if (err)
		set(check, host->config ? CHECK_OK : CHECK_WARN, "Run this as root.",
		    "%s; which functions it can trace is for root to see",
		    host->config ? "configured" : "there");
	else if (missing)
		set(check, CHECK_WARN, slower, "%d of the %zu functions cannot be traced", missing,
		    ARRAY_SIZE(needed));
	else
		set(check, CHECK_OK, NULL, "all of the functions needed can be traced");
}

static void check_ftrace_enabled(const struct host *host, struct check *check)
{
	char value[16];

	(void)host;
	if (!probe_line("/proc/sys/kernel/ftrace_enabled", value, sizeof(value)))
		set(check, CHECK_WARN, "This kernel has no function tracing, or hides it.",
		    "no kernel.ftrace_enabled");
	else if (strcmp(value, "1") != 0)
		set(check, CHECK_FAIL, "sysctl kernel.ftrace_enabled=1",
		    "kernel.ftrace_enabled is %s: no hook ever fires", value);
	else
		set(check, CHECK_OK, NULL, "kernel.ftrace_enabled is 1");
}

static bool mounted(const char *type)
{
	_cleanup_(freep) char *mounts = probe_read("/proc/self/mounts");
	char word[32];

	snprintf(word, sizeof(word), " %s ", type);
	return mounts && strstr(mounts, word);
}

static void check_debugfs(const struct host *host, struct check *check)
{
	(void)host;
	if (mounted("debugfs"))
		set(check, CHECK_OK, NULL, "mounted");
	else
		set(check, CHECK_WARN,
		    "Only /sys/kernel/debug/mtag needs it: mount -t debugfs none /sys/kernel/debug",
		    "not mounted");
}

static void check_tracefs(const struct host *host, struct check *check)
{
	(void)host;
	if (mounted("tracefs"))
		set(check, CHECK_OK, NULL, "mounted");
	else
		set(check, CHECK_WARN,
		    "Only this command looks at it: mount -t tracefs none /sys/kernel/tracing",
		    "not mounted");
}

static void check_lockdown(const struct host *host, struct check *check)
{
	char text[128];

	if (!probe_line("/sys/kernel/security/lockdown", text, sizeof(text)))
		set(check, CHECK_OK, NULL, "none that can be seen");
	else if (strstr(text, "[confidentiality]"))
		set(check, CHECK_FAIL,
		    "It forbids kprobes and tracing. Boot without lockdown=confidentiality.",
		    "confidentiality");
	else if (strstr(text, "[integrity]"))
		set(check, host->loaded ? CHECK_OK : CHECK_WARN,
		    "The module must be signed with a key that this kernel trusts.", "integrity");
	else
		set(check, CHECK_OK, NULL, "off");
}

static void check_signature(const struct host *host, struct check *check)
{
	char text[16];

	if (!probe_line("/sys/module/module/parameters/sig_enforce", text, sizeof(text)))
		set(check, CHECK_OK, NULL, "modules need none");
	else if (*text == 'Y' || *text == '1')
		set(check, host->loaded ? CHECK_OK : CHECK_WARN,
		    "Sign it with a key that this kernel trusts (dkms does, once its key is enrolled "
		    "by mokutil).",
		    "modules must be signed");
	else
		set(check, CHECK_OK, NULL, "not enforced");
}

static void check_headers(const struct host *host, struct check *check)
{
	char path[256];

	snprintf(path, sizeof(path), "/lib/modules/%.128s/build/Makefile", host->uts.release);
	if (!access(path, F_OK))
		set(check, CHECK_OK, NULL, "installed");
	else
		set(check, host->loaded ? CHECK_OK : CHECK_WARN,
		    "To build the module: apt install linux-headers-$(uname -r)", "not installed%s",
		    host->loaded ? "; not needed to run" : "");
}

/* How many functions the module's table has, and the calls that their hooks missed. */
static bool read_hooks(unsigned int *functions, unsigned long *missed)
{
	_cleanup_(freep) char *table = probe_read(HOOKS_FILE);
	char *save = NULL;

	*functions = 0;
	*missed = 0;
	if (!table || !strtok_r(table, "\n", &save)) /* the headings */
		return false;
	for (char *line; (line = strtok_r(NULL, "\n", &save)); ++*functions) {
		unsigned long n;

		if (sscanf(line, "%*s %*s %*s %*s %lu", &n) == 1)
			*missed += n;
	}
	return *functions != 0;
}

static void name_missing(const char *const *names, size_t n, uint64_t found, char *buf, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(buf);

		if (!(found & 1ULL << i))
			snprintf(buf + len, size - len, " %.*s", (int)strcspn(names[i], "|"),
				 names[i]);
	}
}

static void check_symbols(const struct host *host, struct check *check)
{
	uint64_t found, more;
	unsigned int functions;
	unsigned long missed;
	char missing[200] = "";

	if (host->loaded && read_hooks(&functions, &missed)) {
		set(check, CHECK_OK, NULL, "the module has found the %u functions to hook",
		    functions);
		return;
	}
	if (probe_symbols("/proc/kallsyms", 2, needed, ARRAY_SIZE(needed), &found) ||
	    probe_symbols("/proc/kallsyms", 2, wanted, ARRAY_SIZE(wanted), &more)) {
		set(check, CHECK_WARN, "Run this as root.", "/proc/kallsyms is not readable");
		return;
	}
	name_missing(needed, ARRAY_SIZE(needed), found, missing, sizeof(missing));
	if (*missing) {
		set(check, CHECK_FAIL, "mtag cannot run on this kernel.", "there is no%s", missing);
		return;
	}
	name_missing(wanted, ARRAY_SIZE(wanted), more, missing, sizeof(missing));
	if (*missing)
		set(check, CHECK_WARN,
		    "The module says at load what it does without them (dmesg | grep mtag).",
		    "there is no%s", missing);
	else
		set(check, CHECK_OK, NULL, "all %zu functions to hook are there",
		    ARRAY_SIZE(needed) + ARRAY_SIZE(wanted));
}

static void check_hooks(const struct host *host, struct check *check)
{
	const struct info *info = &host->info;
	unsigned int functions;
	unsigned long missed;

	if (read_hooks(&functions, &missed) && missed) {
		set(check, CHECK_WARN,
		    "Something holds up kprobes, such as another tracer. See " HOOKS_FILE ".",
		    "the hooks missed %lu calls", missed);
		return;
	}

	if (!*info->mode)
		set(check, CHECK_WARN, "The module decides when it is loaded.", "not installed");
	else if (!strcmp(info->mode, "kprobes"))
		set(check, CHECK_WARN, "Right, but slower than function tracing, which is missing.",
		    "by kprobes, %s", info->installed ? "installed" : "out, as nothing is tracked");
	else
		set(check, CHECK_OK, NULL, "by %s, %s", info->mode,
		    info->installed ? "installed" : "out, as nothing is tracked");
}

static void check_health(const struct host *host, struct check *check)
{
	const struct info *info = &host->info;
	bool bad = info->drift || info->lost || info->overflow;

	set(check, bad ? CHECK_WARN : CHECK_OK,
	    "Something was not recorded. `mtagctl audit` tells whose counters are concerned; "
	    "please report drift.",
	    "drift %" PRIu64 " pages, lost %" PRIu64 ", tags refused %" PRIu64 ", repairs %" PRIu64
	    "; %" PRIu32 " processes tracked, %" PRIu64 " ended; %" PRIu64 " KiB held",
	    info->drift, info->lost, info->overflow, info->repairs, info->procs, info->ended,
	    info->memory / 1024);
}

static const struct {
	const char *name;
	void (*run)(const struct host *host, struct check *check);
	bool needs_module;
} list[] = {
	{"kernel", check_kernel, false},
	{"module", check_module, false},
	{"netlink", check_family, false},
	{"device", check_device, false},
	{"hooks", check_hooks, true},
	{"health", check_health, true},
	{"configuration", check_config, false},
	{"symbols", check_symbols, false},
	{"function tracing", check_tracer, false},
	{"ftrace switch", check_ftrace_enabled, false},
	{"tracefs", check_tracefs, false},
	{"debugfs", check_debugfs, false},
	{"lockdown", check_lockdown, false},
	{"module signature", check_signature, false},
	{"kernel headers", check_headers, false},
};

static void look(struct host *host)
{
	_cleanup_(kern_closep) struct kern *nl = NULL;

	uname(&host->uts);
	host->config = probe_config(host->uts.release);
	host->family = kern_open(&nl);
	if (!host->family)
		host->family = kern_info(nl, &host->info);
	host->loaded = !host->family || !access("/sys/module/mtag", F_OK);
}

int cmd_doctor(struct ctl *ctl, int argc, char **argv)
{
	struct check checks[ARRAY_SIZE(list)] = {0};
	struct host host = {0};
	struct fmt fmt;
	bool failed = false;
	size_t n = 0;
	int err = 0, opt = ctl_no_options(ctl, argc, argv);

	if (opt != CTL_OPT_DONE)
		return ctl_opt_status(opt);
	if (argc > optind) {
		ctl_error("doctor takes no arguments");
		return CTL_USAGE;
	}
	look(&host);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		if (list[i].needs_module && host.family)
			continue;
		checks[n].name = list[i].name;
		list[i].run(&host, &checks[n]);
		failed |= checks[n++].status == CHECK_FAIL;
	}
	free(host.config);
	fmt_init(&fmt, ctl);
	if (ctl->json)
		err = doctor_json(&fmt, checks, n);
	else
		doctor_text(&fmt, checks, n);
	if (err)
		return fail_memory();
	return !host.loaded ? CTL_ABSENT : failed ? CTL_REFUSED : CTL_OK;
}
