// SPDX-License-Identifier: GPL-2.0
/* Checks whether the kernel has what the module needs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor/fit.h"
#include "doctor/host.h"
#include "probe.h"

/* Lists missing symbols in @buf as ": a, b (there is b.isra.0) and 3 more". */
static void name_missing(const struct symbol *symbols, size_t n, char *buf, size_t size)
{
	size_t len = 0, more = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct symbol *symbol = &symbols[i];

		if (symbol->found)
			continue;
		if (size - len < symbol->len + strlen(symbol->variant) + 40) {
			more++;
			continue;
		}
		len += (size_t)snprintf(buf + len, size - len, "%s%.*s", len ? ", " : ": ",
					(int)symbol->len, symbol->name);
		if (*symbol->variant)
			len += (size_t)snprintf(buf + len, size - len, " (there is %s)",
						symbol->variant);
	}
	if (more)
		snprintf(buf + len, size - len, " and %zu more", more);
}

/* The module does not build without these. Other options only leave out functions that it needs. */
void check_config(const struct host *host, struct check *check)
{
	static const char *const options[] = {"MMU",	  "MODULES", "KPROBES",
					      "KALLSYMS", "NET",     "TRACEPOINTS"};
	char missing[160] = "";

	if (!host->config) {
		check_set(check, CHECK_WARN,
			  "Nothing to do: the checks below look for what the options provide.",
			  "the kernel's configuration was not found");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		size_t len = strlen(missing);

		if (!probe_config_has(host->config, options[i]))
			snprintf(missing + len, sizeof(missing) - len, " CONFIG_%s", options[i]);
	}
	if (*missing)
		check_set(check, CHECK_FAIL,
			  "Run a kernel that is built with these options, as Debian's are.",
			  "lacks%s", missing);
	else
		check_set(check, CHECK_OK, NULL,
			  "KPROBES, KALLSYMS and all other required options are set");
}

/* The functions that the module's file lists as hooks, and as @callers; NULL if it lists none. */
static struct symbol *needed_functions(const struct host *host, bool callers, char **names,
				       size_t *n)
{
	_cleanup_(freep) char *hooks = NULL, *others = NULL;

	*names = NULL;
	hooks = host_built(host) ? probe_field(host->module, "hooks") : NULL;
	others = hooks && callers ? probe_field(host->module, "callers") : NULL;
	if (!hooks || asprintf(names, "%s %s", hooks, others ? others : "") < 0)
		return NULL;
	return probe_words(*names, n);
}

/* The first of @symbols that kprobes refuse, or NULL. The module finds its functions by kprobes. */
static const struct symbol *forbidden_function(struct symbol *symbols, size_t n)
{
	for (size_t i = 0; i < n; i++)
		symbols[i].found = 0;
	if (!probe_symbols("/sys/kernel/debug/kprobes/blacklist", 1, symbols, n))
		for (size_t i = 0; i < n; i++)
			if (symbols[i].found)
				return &symbols[i];
	return NULL;
}

static void check_found(struct check *check, struct symbol *symbols, size_t n)
{
	static const char advice[] = "Run one of Debian's kernels, and build the module for it.";
	const struct symbol *symbol;
	char missing[160];

	name_missing(symbols, n, missing, sizeof(missing));
	if (*missing)
		check_set(check, CHECK_FAIL, advice,
			  "this kernel lacks functions (inlined, renamed or not built)%s", missing);
	else if ((symbol = forbidden_function(symbols, n)))
		check_set(check, CHECK_FAIL, advice, "this kernel forbids hooking %.*s",
			  (int)symbol->len, symbol->name);
	else
		check_set(check, CHECK_OK, NULL,
			  "all %zu functions that the module needs were found", n);
}

void check_symbols(const struct host *host, struct check *check)
{
	_cleanup_(freep) char *names = NULL;
	_cleanup_(freep) struct symbol *symbols = NULL;
	size_t n = 0;

	if (host->loaded) {
		check_set(check, CHECK_OK, NULL, "the module has found its functions");
		return;
	}
	symbols = needed_functions(host, true, &names, &n);
	if (!symbols)
		check_set(check, CHECK_WARN,
			  "Build the module; if it is not installed, name its file with -m.",
			  "no module for this kernel was found to say which functions it needs");
	else if (probe_symbols("/proc/kallsyms", 2, symbols, n))
		check_set(check, CHECK_WARN, "Boot a kernel with CONFIG_KALLSYMS.",
			  "/proc/kallsyms is not readable");
	else
		check_found(check, symbols, n);
}

static const char *traceable_file(void)
{
	static const char *const places[] = {
		"/sys/kernel/tracing/available_filter_functions",
		"/sys/kernel/debug/tracing/available_filter_functions"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!probe_access(places[i], F_OK))
			return places[i];
	return NULL;
}

/* kprobes are no substitute on PREEMPT_RT, as they disable preemption. */
static void check_slower(const struct host *host, struct check *check, const char *what,
			 const char *missing)
{
	if (host->config && probe_config_has(host->config, "PREEMPT_RT"))
		check_set(check, CHECK_FAIL, "Run one of Debian's kernels.",
			  "%s%s: PREEMPT_RT needs it", what, missing);
	else
		check_set(check, CHECK_WARN,
			  "mtag then uses kprobes: the same numbers at a higher cost.", "%s%s",
			  what, missing);
}

static void check_traceable(const struct host *host, struct check *check)
{
	_cleanup_(freep) char *names = NULL;
	_cleanup_(freep) struct symbol *symbols = NULL;
	const char *path = traceable_file();
	char missing[200];
	size_t n = 0;

	symbols = needed_functions(host, false, &names, &n);
	if (!symbols || !path || probe_symbols(path, 0, symbols, n)) {
		check_set(check, host->config ? CHECK_OK : CHECK_WARN,
			  "Run this as root, with tracefs mounted.",
			  "%s; the list of traceable functions cannot be read",
			  host->config ? "configured" : "perhaps");
		return;
	}
	name_missing(symbols, n, missing, sizeof(missing));
	if (*missing)
		check_slower(host, check, "functions that cannot be traced", missing);
	else
		check_set(check, CHECK_OK, NULL, "all %zu functions to hook can be traced", n);
}

void check_tracer(const struct host *host, struct check *check)
{
	if (!strcmp(host->info.mode, "ftrace"))
		check_set(check, CHECK_OK, NULL, "the module uses it");
	else if (host->config && (!probe_config_has(host->config, "FUNCTION_TRACER") ||
				  !probe_config_has(host->config, "DYNAMIC_FTRACE_WITH_ARGS")))
		check_slower(host, check, "lacks CONFIG_FUNCTION_TRACER or ",
			     "CONFIG_DYNAMIC_FTRACE_WITH_ARGS");
	else
		check_traceable(host, check);
}
