// SPDX-License-Identifier: GPL-2.0
/* Checks whether the kernel has what the module needs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "doctor/fit.h"
#include "doctor/host.h"
#include "doctor/known.h"
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

/**
 * struct needed - functions that the module needs
 * @names:	what @symbols point into
 * @symbols:	one for each
 * @n:		number of @symbols
 * @by:		the kernel whose list it is; NULL: the module's file says it itself
 * @guess:	@by is not this kernel, only the nearest that the module knows
 */
struct needed {
	char *names;
	struct symbol *symbols;
	size_t n;
	const struct known *by;
	bool guess;
};

static void needed_clear(struct needed *needed)
{
	free(needed->names);
	free(needed->symbols);
}

/* By the module's file, if there is one for this kernel. */
static char *names_of_file(const struct host *host, bool callers)
{
	_cleanup_(freep) char *hooks = NULL, *others = NULL;
	char *names;

	hooks = host_built(host) ? probe_field(host->module, "hooks") : NULL;
	others = hooks && callers ? probe_field(host->module, "callers") : NULL;
	if (!hooks || asprintf(&names, "%s %s", hooks, others ? others : "") < 0)
		return NULL;
	return names;
}

/* By the list of this kernel, or of the nearest one. */
static char *names_of_list(const struct host *host, bool callers, const struct known *known)
{
	bool huge = !host->config || probe_config_has(host->config, "TRANSPARENT_HUGEPAGE");
	char *names;

	if (asprintf(&names, "%s%s", known_hooks(known, huge),
		     callers ? known_callers(known, huge) : "") < 0)
		return NULL;
	return names;
}

/* A function that is hooked may call others that are. */
static void drop_repeated(struct needed *needed)
{
	size_t n = 0;

	for (size_t i = 0; i < needed->n; i++) {
		const struct symbol *symbol = &needed->symbols[i];
		size_t j = 0;

		while (j < n && (needed->symbols[j].len != symbol->len ||
				 memcmp(needed->symbols[j].name, symbol->name, symbol->len) != 0))
			j++;
		if (j == n)
			needed->symbols[n++] = *symbol;
	}
	needed->n = n;
}

/* The functions to hook, and with @callers those by which events are told apart. False: unknown. */
static bool needed_functions(const struct host *host, bool callers, struct needed *needed)
{
	needed->names = names_of_file(host, callers);
	if (!needed->names && !host_built(host)) {
		needed->by = known_nearest(host->release);
		needed->guess = !known_is(host->release);
		needed->names = needed->by ? names_of_list(host, callers, needed->by) : NULL;
	}
	needed->symbols = needed->names ? probe_words(needed->names, &needed->n) : NULL;
	if (needed->symbols && needed->by)
		drop_repeated(needed);
	return needed->symbols;
}

static void check_found(struct check *check, const struct needed *needed)
{
	static const char advice[] = "Run one of Debian's kernels, and build the module for it.";
	char missing[150];

	name_missing(needed->symbols, needed->n, missing, sizeof(missing));
	if (*missing && needed->guess)
		check_set(check, CHECK_FAIL, advice,
			  "of the %zu functions of %s, the nearest known kernel, this one lacks%s",
			  needed->n, needed->by->name, missing);
	else if (*missing)
		check_set(check, CHECK_FAIL, advice,
			  "this kernel lacks functions (inlined, renamed or not built)%s", missing);
	else if (needed->guess)
		check_set(check, CHECK_WARN,
			  "That it has them does not tell whether they still mean the same.",
			  "this kernel has all %zu functions of %s, the nearest known kernel",
			  needed->n, needed->by->name);
	else
		check_set(check, CHECK_OK, NULL,
			  "all %zu functions that the module needs were found", needed->n);
}

void check_symbols(const struct host *host, struct check *check)
{
	_cleanup_(needed_clear) struct needed needed = {0};

	if (host_accepted(host))
		check_set(check, CHECK_OK, NULL, "the module has found its functions");
	else if (!needed_functions(host, true, &needed))
		check_set(check, CHECK_WARN,
			  "Build the module; if it is not installed, name its file with -m.",
			  "nothing says which functions the module needs in this kernel");
	else if (probe_symbols("/proc/kallsyms", 2, needed.symbols, needed.n))
		check_set(check, CHECK_WARN, "Boot a kernel with CONFIG_KALLSYMS.",
			  "/proc/kallsyms is not readable");
	else
		check_found(check, &needed);
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

/* The first of @symbols that kprobes refuse, or NULL. */
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

/* kprobes are no substitute on PREEMPT_RT, as they disable preemption, nor where one is refused. */
static void check_slower(const struct host *host, struct check *check, const char *what,
			 const char *missing)
{
	static const char advice[] = "Run one of Debian's kernels.";
	_cleanup_(needed_clear) struct needed needed = {0};
	const struct symbol *symbol = NULL;

	if (needed_functions(host, false, &needed))
		symbol = forbidden_function(needed.symbols, needed.n);
	if (host->config && probe_config_has(host->config, "PREEMPT_RT"))
		check_set(check, CHECK_FAIL, advice, "%s%s: PREEMPT_RT needs it", what, missing);
	else if (symbol)
		check_set(check, CHECK_FAIL, advice,
			  "%s%s, and this kernel forbids a kprobe on %.*s", what, missing,
			  (int)symbol->len, symbol->name);
	else
		check_set(check, CHECK_WARN,
			  "mtag then uses kprobes: the same numbers at a higher cost.", "%s%s",
			  what, missing);
}

static void check_traceable(const struct host *host, struct check *check)
{
	_cleanup_(needed_clear) struct needed needed = {0};
	const char *path = traceable_file();
	char missing[200];

	if (!needed_functions(host, false, &needed) || !path ||
	    probe_symbols(path, 0, needed.symbols, needed.n)) {
		check_set(check, host->config ? CHECK_OK : CHECK_WARN,
			  "Run this as root, with tracefs mounted.",
			  "%s; the list of traceable functions cannot be read",
			  host->config ? "configured" : "perhaps");
		return;
	}
	name_missing(needed.symbols, needed.n, missing, sizeof(missing));
	if (*missing && needed.guess)
		check_set(check, CHECK_WARN,
			  "mtag has nothing to trace here: see the check of the kernel.",
			  "of the %zu functions hooked in %s, these cannot be traced%s", needed.n,
			  needed.by->name, missing);
	else if (*missing)
		check_slower(host, check, "functions that cannot be traced", missing);
	else
		check_set(check, CHECK_OK, NULL, "all %zu functions to hook can be traced%s%s",
			  needed.n, needed.guess ? " that are hooked in " : "",
			  needed.guess ? needed.by->name : "");
}

void check_tracer(const struct host *host, struct check *check)
{
	if (host_accepted(host) && !strcmp(host->info.mode, "ftrace"))
		check_set(check, CHECK_OK, NULL, "the module uses it");
	else if (host->config && (!probe_config_has(host->config, "FUNCTION_TRACER") ||
				  !probe_config_has(host->config, "DYNAMIC_FTRACE_WITH_ARGS")))
		check_slower(host, check, "lacks CONFIG_FUNCTION_TRACER or ",
			     "CONFIG_DYNAMIC_FTRACE_WITH_ARGS");
	else
		check_traceable(host, check);
}
