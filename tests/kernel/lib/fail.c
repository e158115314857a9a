// SPDX-License-Identifier: GPL-2.0
/*
 * Failing allocations, by the module of tests/kernel/failnth.
 *
 *	for (int n = 1; …; n++) { fail_arm(getpid(), n); what may fail; if (!fail_disarm(NULL)) break; … }
 */
#include "fail.h"
#include <libgen.h>
#include <limits.h>

/* Number of allocations that failed in this test, for "# counts:". In shared memory. */
static atomic_int *fail_total;

int module_load(const char *path, const char *params)
{
	int fd = must(open(path, O_RDONLY | O_CLOEXEC)), error = 0;

	if (syscall(SYS_finit_module, fd, params, 0))
		error = -errno;
	close(fd);
	return error;
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

int module_unload_soon(const char *name)
{
	int error = 0;

	until((error = module_unload(name)) != -EAGAIN && error != -EBUSY && error != -EINTR, 60);
	return error;
}

const char *module_path(void)
{
	const char *path = getenv("MTAG_MODULE");

	if (!path)
		bail("no MTAG_MODULE");
	return path;
}

void fail_set(const char *parameter, long value)
{
	/* Addresses are unsigned, a process is not. */
	const char *format = strcmp(parameter, "pid") ? "%lu" : "%ld";
	char path[128];
	int error;

	snprintf(path, sizeof(path), FAIL_DIR "%s", parameter);
	/* The write itself may fail. */
	if (!until(!(error = spew(path, format, value)) || error != -ENOMEM, 10) || error)
		bail("%s = %ld: %s", path, value, strerror(-error));
}

void fail_begin(void)
{
	char path[512], dir[512];
	int error;

	fail_total =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	snprintf(dir, sizeof(dir), "%s", module_path());
	snprintf(path, sizeof(path), "%s/failnth/failnth.ko", dirname(dir));
	if (access(path, R_OK))
		bail("no %s: make failnth KERNEL=…", path);
	error = module_load(path, "");
	if (error && error != -EEXIST)
		bail("load %s: %s", path, strerror(-error));
}

void fail_end(void)
{
	int error = module_unload_soon("failnth");

	if (error)
		ok(false, "failnth unloads (%s)", strerror(-error));
	diag("counts: injected=%d", *fail_total);
}

void fail_beneath(unsigned long begin, unsigned long end)
{
	fail_set("end", 0);
	fail_set("begin", begin);
	fail_set("end", end);
}

/* Where a module is, and how long; false: it is not loaded. */
static bool module_at(const char *name, unsigned long *base, unsigned long *size)
{
	size_t n = strlen(name);

	for (char *line = slurp("/proc/modules"); line && *line; line = strchr(line, '\n') + 1)
		if (!strncmp(line, name, n) && line[n] == ' ')
			return sscanf(line + n, " %lu %*s %*s %*s %lx", size, base) == 2;
	return false;
}

/* How far its last function is from @base. To read all symbols takes a second. */
static unsigned long last_of_mtag(unsigned long base, unsigned long size)
{
	unsigned long at, last = 0;
	char *line, *type;

	sh("grep '\\[mtag\\]$' /proc/kallsyms >/tmp/fail.symbols");
	for (line = slurp("/tmp/fail.symbols"); line && *line; line = strchr(line, '\n') + 1) {
		at = strtoul(line, &type, 16);
		if (strncasecmp(type, " t ", 3) || at < base || at >= base + size)
			continue;
		last = at > last ? at : last;
	}
	return last - base;
}

void fail_beneath_mtag(void)
{
	/* The same wherever it is loaded. */
	static unsigned long last;
	unsigned long size, base, end, other, others;

	if (!module_at("mtag", &base, &size))
		bail("where is mtag?");
	if (!last)
		last = last_of_mtag(base, size);
	/* A module's text ends with a page. */
	end = ((base + last) | (PG - 1)) + 1;
	/* Newer kernels also list the freed init text, where failnth is now. */
	if (module_at("failnth", &other, &others) && other > base && other < end)
		end = other;
	fail_beneath(base, end);
}

void fail_beneath_function(const char *name)
{
	unsigned long at, begin = 0, end = ULONG_MAX;
	char *text, *line, symbol[128];

	sh("grep ' [tT] .*\\[mtag\\]$' /proc/kallsyms >/tmp/fail.symbols");
	text = slurp("/tmp/fail.symbols");
	for (line = text; line && *line; line = strchr(line, '\n') + 1)
		if (sscanf(line, "%lx %*c %127s", &at, symbol) == 2 && !strcmp(symbol, name))
			begin = at;
	if (!begin)
		bail("where is %s?", name);
	for (line = text; *line; line = strchr(line, '\n') + 1) {
		at = strtoul(line, NULL, 16);
		if (at > begin && at < end)
			end = at;
	}
	fail_beneath(begin, end);
}

void fail_arm(pid_t pid, int n)
{
	fail_set("pid", pid);
	fail_set("nth", n);
}

int fail_disarm(char what[128])
{
	int failed = -1, asked, at = 0;
	char *text;

	fail_set("pid", 0);
	if (!until((text = slurp(FAIL_DIR "nth")), 10) ||
	    sscanf(text, "%d %d %n", &failed, &asked, &at) != 2)
		bail("read nth");
	if (what)
		snprintf(what, 128, "%.*s", (int)strcspn(text + at, "\n"), text + at);
	fail_set("nth", 0);
	atomic_fetch_add(fail_total, failed);
	return failed;
}

int fail_count(void)
{
	char *text = slurp(FAIL_DIR "nth");

	return text ? atoi(text) : -1;
}
