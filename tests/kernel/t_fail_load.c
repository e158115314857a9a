// SPDX-License-Identifier: GPL-2.0
/*
 * Each n-th allocation of the module fails while it is loaded and while it is unloaded. Either it is not loaded and
 * leaves nothing behind, or it is loaded completely.
 */
/* vm: group=parallel mem=1G timeout=300 */
/* vm: group=apart mem=1G timeout=7200 long=1 args=every */
#include "lib/test.h"
#include "lib/fail.h"

static bool each_one, wrong;

/* Returns the next number to try. Without --long it skips some: a load takes half a second. */
static int next(int n)
{
	return each_one || n < 4 ? n + 1 : 4 * n;
}

/* Like ok(), but prints only failures. */
#define good(is_good, ...) ((is_good) || (diag("  " __VA_ARGS__), wrong = true, false))

static size_t lines(const char *path)
{
	const char *text = slurp(path);
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

static bool loaded(void)
{
	char *text = slurp("/proc/modules");

	return text && (!strncmp(text, "mtag ", 5) || strstr(text, "\nmtag "));
}

/* The module's hooks in the kernel: functions traced and probed. */
static size_t hooked(void)
{
	return lines("/sys/kernel/tracing/enabled_functions") +
	       lines("/sys/kernel/debug/kprobes/list");
}

static size_t hooked_before;

static void is_gone(const char *when)
{
	good(!loaded(), "%s: it is a module", when);
	good(access("/dev/mtag", F_OK), "%s: /dev/mtag is there", when);
	good(access("/sys/kernel/debug/mtag", F_OK), "%s: its directory is there", when);
	good(access("/sys/module/mtag", F_OK), "%s: it has parameters", when);
	good(hooked() == hooked_before, "%s: %zu hooks of %zu", when, hooked(), hooked_before);
}

static void is_whole(const char *when)
{
	int status;

	good(!access("/dev/mtag", F_OK), "%s: no /dev/mtag", when);
	good(!access("/sys/kernel/debug/mtag/stats", F_OK) &&
		     !access("/sys/kernel/debug/mtag/hooks", F_OK) &&
		     !access("/sys/kernel/debug/mtag/health", F_OK),
	     "%s: a file of debugfs is missing", when);
	ctl(&status, "show >/dev/null 2>&1");
	good(!status, "%s: mtagctl show says %d", when, status);
	good(health("drift") == 0, "%s: drift", when);
}

/* Fails only allocations of its init function, not those of loading a module as such. */
static void beneath_init(void)
{
	unsigned long at = 0;
	char *text;

	sh("grep -m 1 ' do_one_initcall$' /proc/kallsyms >/tmp/fail.symbol");
	text = slurp("/tmp/fail.symbol");
	if (!text || sscanf(text, "%lx", &at) != 1 || !at)
		bail("where is do_one_initcall?");
	/* Its size is not told; what is behind it runs beneath no system call that loads a module. */
	fail_beneath(at, at + 0x200);
}

static void loads(const char *params)
{
	int n, error, failed, tried = 0, refused = 0;
	char what[128], when[256];

	wrong = false;
	beneath_init();
	for (n = 1;; n = next(n)) {
		fail_arm(getpid(), n);
		error = module_load(module_path(), params);
		failed = fail_disarm(what);
		snprintf(when, sizeof(when), "allocation %d (%s)", n, what);
		if (!failed)
			break;
		tried++;
		/*
		 * EFAULT: its self-test could not touch a page. ENXIO: register_kprobes() said
		 * that all went well, but a function is as it was, which mtag looks at.
		 */
		good(!error || error == -ENOMEM || error == -EFAULT ||
			     (error == -ENXIO && strstr(params, "kprobes")),
		     "%s: %s", when, strerror(-error));
		if (error) {
			refused++;
			is_gone(when);
			continue;
		}
		is_whole(when);
		good(!module_unload_soon("mtag"), "%s: cannot be unloaded", when);
		is_gone(when);
	}
	good(!error, "without a failure: %s", strerror(-error));
	is_whole("in the end");
	ok(!wrong && refused,
	   "loading with \"%s\": %d of %d allocations failed, %d times it was not loaded", params,
	   tried, n - 1, refused);
}

/* The module is not loaded afterwards. */
static void unloads(const char *params)
{
	int n, error, failed, tried = 0;
	bool others_warn;
	char what[128], when[256];

	wrong = false;
	others_warn = !sh("grep -qaz '^fprobe_module_callback$' /sys/kernel/btf/vmlinux");
	fail_beneath(0, 0);
	for (n = 1;; n = next(n)) {
		/* fprobe, where it hears of modules, warns of its own failure: then what mtag does alone. */
		if (others_warn)
			fail_beneath_mtag();
		fail_arm(getpid(), n);
		error = module_unload("mtag");
		failed = fail_disarm(what);
		snprintf(when, sizeof(when), "allocation %d (%s)", n, what);
		good(!error, "%s: %s", when, strerror(-error));
		is_gone(when);
		if (!failed)
			break;
		tried++;
		if (!good(!module_load(module_path(), params), "%s: cannot be loaded again", when))
			break;
	}
	ok(!wrong, "unloading: %d of %d allocations failed", tried, n - 1);
}

int main(int argc, char **argv)
{
	each_one = argc > 1 && !strcmp(argv[1], "every");
	need_root();
	if (loaded())
		must0(module_unload_soon("mtag"));
	fail_begin();
	hooked_before = hooked();
	loads("linger_ms=0");
	unloads("linger_ms=0");
	if (!strstr(slurp("/proc/version"), "PREEMPT_RT")) {
		loads("force_kprobes=1 linger_ms=0");
		must0(module_unload_soon("mtag"));
	}
	if (each_one) {
		loads("track=all");
		must0(module_unload_soon("mtag"));
	}
	must0(module_load(module_path(), "linger_ms=2000"));
	fail_end();
	return done();
}
