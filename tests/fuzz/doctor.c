// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/parse.c ctl/utf8.c ctl/format/fmt.c ctl/format/text.c ctl/format/json.c */
/* sources: ctl/format/doctor.c ctl/doctor/check.c */
/* sources: ctl/doctor/known.c ctl/doctor/host.c ctl/doctor/live.c ctl/doctor/load.c ctl/doctor/switch.c */
/*
 * What mtagctl doctor reads: files of /proc, /sys and /boot, the kernel's log, and what modinfo and
 * gzip print. None of them can break it or its output.
 */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <sys/klog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail.h"
#include "format/json.h"
#include "fuzz.h"
#include "option.h"
#include "uapi/linux/mtag.h"

/* ---- the machine ---- */

static const char *const paths[] = {
	"/proc/sys/kernel/osrelease",
	"/boot/config-6.1.0-1-amd64",
	"modinfo",
	"/proc/kallsyms",
	"/sys/kernel/tracing/available_filter_functions",
	"/sys/kernel/debug/kprobes/blacklist",
	"/proc/keys",
	"log",
	"/sys/kernel/debug/mtag/hooks",
	"/proc/self/mounts",
	"/proc/1/mounts",
	"/proc/filesystems",
	"/sys/kernel/security/lockdown",
	"/sys/module/module/parameters/sig_enforce",
	"/sys/module/mtag/version",
	"/sys/module/mtag/srcversion",
	"/proc/sys/kernel/ftrace_enabled",
	"/sys/kernel/debug/kprobes/enabled",
	"/sys/module/mtag",
	"gzip",
};
#define FILES (sizeof(paths) / sizeof(*paths))

static struct {
	char *text; /* NULL: there is no such */
	size_t len;
} files[FILES];

static size_t find(const char *path)
{
	size_t i;

	if (!strncmp(path, "/root/", 6))
		path += 5;
	for (i = 0; i < FILES && strcmp(paths[i], path) != 0; i++)
		;
	return i < FILES && files[i].text ? i : FILES;
}

static FILE *fake_fopen(const char *path)
{
	size_t i = find(path);

	errno = ENOENT;
	return i == FILES ? NULL : fmemopen(files[i].text, files[i].len, "r");
}

static int fake_access(const char *path, int mode)
{
	(void)mode;
	errno = ENOENT;
	return find(path) == FILES ? -1 : 0;
}

static int output;

static int fake_pipe(int ends[2])
{
	int err = pipe(ends);

	output = ends[1];
	return err;
}

/* A program has printed all before it is waited for; what does not fit into the pipe is lost. */
static int fake_spawn(pid_t *pid, const char *name)
{
	size_t i = find(name);
	ssize_t n = 0;

	if (i == FILES)
		return ENOENT;
	if (files[i].len)
		n = write(output, files[i].text, files[i].len < 65536 ? files[i].len : 65536);
	*pid = 1;
	return n < 0 ? EIO : 0;
}

static pid_t fake_wait(pid_t pid, int *status)
{
	if (status)
		*status = 0;
	return pid;
}

static int fake_klog(int type, char *text, int room)
{
	size_t i = find("log");
	int len = i == FILES ? 0 : (int)files[i].len;

	if (type == 10)
		return i == FILES ? -1 : len;
	len = len < room ? len : room;
	memcpy(text, files[i].text, (size_t)len);
	return len;
}

#define fopen(path, mode)				  fake_fopen(path)
#define access(path, mode)				  fake_access(path, mode)
#define pipe2(ends, flags)				  fake_pipe(ends)
#define posix_spawnp(pid, path, actions, attr, argv, env) fake_spawn(pid, path)
#define posix_spawn(pid, path, actions, attr, argv, env)  fake_spawn(pid, path)
#define waitpid(pid, status, flags)			  fake_wait(pid, status)
#define klogctl(type, text, room)			  fake_klog(type, text, room)
#include "../../ctl/probe.c"
#undef fopen
#undef access

#include "../../ctl/doctor/fit.c"
#include "../../ctl/cmd/doctor.c"

/* ---- the rest of mtagctl ---- */

static struct input kernel;

int kern_open(struct kern **kern)
{
	*kern = NULL;
	return in_u8(&kernel) & 1 ? 0 : -ENOPROTOOPT;
}

void kern_close(struct kern *kern)
{
	(void)kern;
}

int kern_info(struct kern *kern, struct info *info)
{
	(void)kern;
	*info = (struct info){.installed = in_u8(&kernel), .lost = in_number(&kernel)};
	in_name(&kernel, info->version, sizeof(info->version));
	if (in_u8(&kernel) & 1)
		in_name(&kernel, info->mode, sizeof(info->mode));
	else
		strcpy(info->mode, in_u8(&kernel) & 1 ? "ftrace" : "kprobes");
	return 0;
}

int fail_memory(void)
{
	must(false);
	return 0;
}

void fail_print(const char *format, ...)
{
	(void)format;
}

int option_next(struct ctl *ctl, int argc, char **argv, const char *shorts,
		const struct option *longs)
{
	(void)ctl;
	(void)shorts;
	(void)longs;
	(void)argc;
	(void)argv;
	optind = 1;
	return OPTION_DONE;
}

int option_status(int opt)
{
	(void)opt;
	return CTL_OK;
}

/* ---- files ---- */

static const char *const functions[] = {"folio_add", "page_remove.x", "mm_drop", "copy_pages",
					"a_rather_long_name_of_a_function_that_goes_on_and_on"};

static const char *function(struct input *in)
{
	return functions[in_below(in, sizeof(functions) / sizeof(*functions))];
}

/* One line of the file @path as it should be, or not quite. */
static void print_line(struct input *in, FILE *out, const char *path)
{
	static const char *const ends[] = {"", ".isra.0", ".cold", "\t[mod]",
					   ".part.0.constprop.1"};
	static const char *const names[] = {"hooks",  "callers",    "vermagic", "sig_id",
					    "signer", "srcversion", "filename"};
	static const char *const states[] = {
		"[none] integrity", "none [integrity]", "[confidentiality]", "1", "0", "Y", "N"};
	char name[300];

	in_name(in, name, in_rarely(in) ? sizeof(name) : 40);
	if (strstr(path, "osrelease") && !in_rarely(in)) {
		fputs("6.1.0-1-amd64\n", out);
	} else if (strstr(path, "config") || !strcmp(path, "gzip")) {
		fprintf(out, "CONFIG_%s=%s\n", in_u8(in) & 1 ? "KPROBES" : name,
			in_u8(in) & 3 ? "y" : "n");
	} else if (!strcmp(path, "modinfo")) {
		const char *field = names[in_below(in, 7)];

		fprintf(out, "%s:%*s", field, (int)in_below(in, 12), "");
		for (unsigned int n = in_below(in, 6); n; n--)
			fprintf(out, "%s ", in_u8(in) & 3 ? function(in) : name);
		fputs(in_u8(in) & 3 ? "\nvermagic:   6.1.0-1-amd64 SMP\n" : "\n", out);
	} else if (strstr(path, "kallsyms") || strstr(path, "blacklist")) {
		fprintf(out, "%s %s%s%s\n", in_u8(in) & 7 ? "0000000000000000" : name,
			strstr(path, "kall") ? "T " : "", in_u8(in) & 7 ? function(in) : name,
			ends[in_below(in, 5)]);
	} else if (strstr(path, "filter")) {
		fprintf(out, "%s%s\n", in_u8(in) & 7 ? function(in) : name, ends[in_below(in, 5)]);
	} else if (strstr(path, "keys")) {
		fprintf(out, "0a I------ 1 perm 1f03 0 0 asymmetric %s: X509.rsa\n", name);
	} else if (!strcmp(path, "log")) {
		fprintf(out, "<6>[ 1.0] %s%s%s\n", in_u8(in) & 3 ? " mtag: " : "", name,
			in_u8(in) & 3 ? "" : "taint");
	} else if (strstr(path, "hooks")) {
		fprintf(out, "%s a b c %" PRIu64 "\n", name, in_number(in));
	} else if (strstr(path, "mounts")) {
		fprintf(out, "none /sys/kernel/%s %s rw 0 0\n", in_u8(in) & 1 ? "debug" : "tracing",
			in_u8(in) & 3 ? "debugfs" : name);
	} else {
		fprintf(out, "%s\n", in_u8(in) & 3 ? states[in_below(in, 7)] : name);
	}
}

static void build(struct input *in)
{
	for (size_t i = 0; i < FILES; i++) {
		FILE *out;

		files[i].text = NULL;
		if (in_rarely(in))
			continue;
		out = open_memstream(&files[i].text, &files[i].len);
		for (unsigned int n = in_below(in, in_rarely(in) ? 200 : 8); n; n--)
			print_line(in, out, paths[i]);
		if (in_rarely(in))
			fputc(0, out);
		fclose(out);
	}
}

/* The files one after the other, each ended by 0xff. */
static void cut(struct input *in)
{
	for (size_t i = 0; i < FILES; i++) {
		const uint8_t *end = in->left ? memchr(in->p, 0xff, in->left) : NULL;
		size_t len = end ? (size_t)(end - in->p) : in->left;

		files[i].text = NULL;
		if (!in->left)
			continue;
		files[i].text = malloc(len + 1);
		files[i].len = len;
		memcpy(files[i].text, in->p, len);
		files[i].text[len] = '\0';
		len += !!end;
		in->p += len;
		in->left -= len;
	}
}

/* ---- the checks ---- */

static void run(bool json, bool elsewhere)
{
	struct ctl ctl = {.json = json};
	char word[] = "doctor", *argv[] = {word, NULL}, *text;
	FILE *real = stdout;
	size_t len;
	int status;

	probe_set_root(elsewhere ? "/root" : "");
	stdout = open_memstream(&text, &len);
	status = cmd_doctor(&ctl, 1, argv);
	fclose(stdout);
	stdout = real;
	must(status == CTL_OK || status == CTL_REFUSED || status == CTL_ABSENT);
	must(len);
	if (json)
		must_be_json(text, len);
	else
		must_be_harmless(text, len, TEXT);
	free(text);
}

/* Whatever does not fit is counted. */
static void check_names(struct input *in)
{
	struct symbol symbols[40] = {0};
	char buf[200], names[40][80];
	size_t n = in_below(in, 40), missing = 0, named = 0, more = 0;
	const char *p;

	for (size_t i = 0; i < n; i++) {
		size_t len = 1 + in_below(in, in_rarely(in) ? 79 : 30);

		memset(names[i], 'f', len);
		symbols[i] = (struct symbol){.name = names[i], .len = len, .found = in_rarely(in)};
		if (in_rarely(in))
			snprintf(symbols[i].variant, sizeof(symbols[i].variant), "%.*s.isra.0",
				 (int)in_below(in, 60), names[i]);
		missing += !symbols[i].found;
	}
	name_missing(symbols, n, buf, sizeof(buf));
	must(strlen(buf) < sizeof(buf) - 1);
	must(!*buf == !missing);
	for (p = buf; (p = strstr(p, p == buf ? ": " : ", ")); p += 2)
		named++;
	p = strstr(buf, " and ");
	if (p)
		must(sscanf(p, " and %zu more", &more) == 1);
	must(named + more == missing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	unsigned int bits = in_u8(&in);

	if (fuzz_built) {
		check_names(&in);
		build(&in);
	} else {
		cut(&in);
	}
	kernel = in;
	run(bits & 1, bits & 2);
	for (size_t i = 0; i < FILES; i++)
		free(files[i].text);
	return 0;
}

static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	size_t len = 1;

	buf[0] = (uint8_t)in_u8(in);
	build(in);
	for (size_t i = 0; i < FILES; i++) {
		if (files[i].text && files[i].len < size - len - FILES) {
			memcpy(buf + len, files[i].text, files[i].len);
			len += files[i].len;
		}
		buf[len++] = 0xff;
		free(files[i].text);
	}
	return len;
}

/* A hash without a number that is another one in each process. */
FUZZ_BEGIN(make, json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE))
