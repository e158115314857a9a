// SPDX-License-Identifier: GPL-2.0
/* mtagctl: who owns each resident page. The table of commands, and the options they share. */
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "utf8.h"

/* clang-format off */
const struct command ctl_commands[] = {
	{ "show", "[PID...]", "resident memory by process and tag",
	  "Without PID: every tracked process that you may see. With -s also virtual size,\n"
	  "bytes ever touched, and the calls that mapped memory with their bytes.\n", cmd_show },
	{ "tree", "PID", "the tags of a process as a tree, with and without their children",
	  "SELF is what the tag itself owns, TOTAL what it and all below it own; the\n"
	  "percentages are of the process's RSS. The largest come first.\n", cmd_tree },
	{ "watch", "PID [-d SEC] [-n N]", "the tags of a process, again and again, with changes",
	  "  -d, --delay SEC   time between samples, fractions allowed (default 1)\n"
	  "  -n, --count N     end after N samples\n"
	  "On a terminal the table is redrawn until Ctrl-C. Elsewhere, without -n, it is\n"
	  "printed once; with -j there is one line a sample until the process ends.\n",
	  cmd_watch },
	{ "run", "[-t TAG] [--by-thread] -- CMD...", "run a command tracked from its start",
	  "  -t, --tag TAG     its default tag, a path such as db/cache\n"
	  "  --by-thread       tag its threads by their names\n"
	  "The exit status is that of CMD; 126 when it cannot be executed, 127 when it is\n"
	  "not found.\n", cmd_run },
	{ "track", "PID...", "have running processes tracked",
	  "What they have already becomes untagged. Needs CAP_SYS_PTRACE over them.\n", cmd_track },
	{ "untrack", "PID...", "stop tracking processes",
	  "Their counters are gone. Needs CAP_SYS_PTRACE over them.\n", cmd_untrack },
	{ "audit", "[PID...]", "walk page tables and compare them with the counters",
	  "Without PID: every tracked process that you may see. KERNEL is the kernel's own\n"
	  "RSS, WALKED what the page tables hold, COUNTED the sum over the tags; DRIFT and\n"
	  "MOVING (charged to nobody while they migrate) are pages. The exit status is 3 if\n"
	  "any drift is found.\n",
	  cmd_audit },
	{ "doctor", "[-m FILE] [--root DIR]", "is this kernel fit for mtag, and if not, why",
	  "  -m, --module FILE  look into this file, not into the module that is installed\n"
	  "  -r, --root DIR     look at /proc, /sys, /boot and /lib/modules below DIR\n"
	  "The exit status is 0 if mtag is usable, 4 without the module, 2 if something\n"
	  "fails. Some checks need root.\n", cmd_doctor },
	{ "help", "[COMMAND]", "this, or help with a command", "", cmd_help },
	{ NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */

static const char common_options[] =
	"  -j, --json        a JSON array of flat objects, sizes in bytes\n"
	"  -p, --pretty      indented JSON\n"
	"  -s, --statistics  more of it\n"
	"  -h, --help        help\n";

void ctl_error(const char *format, ...)
{
	_cleanup_(freep) char *raw = NULL, *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&raw, format, args) < 0)
		raw = NULL;
	va_end(args);
	/* Whatever names are in it. */
	text = raw ? utf8_clean_message(raw) : NULL;
	/* What is printed so far comes first where both go to one place. */
	fflush(stdout);
	fprintf(stderr, "mtagctl: %s\n", text ? text : "out of memory");
}

const struct command *ctl_find(const char *name)
{
	for (const struct command *c = ctl_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static void usage(FILE *out)
{
	fputs("Usage: mtagctl [OPTION...] COMMAND [ARGUMENT...]\n\n", out);
	for (const struct command *c = ctl_commands; c->name; c++)
		fprintf(out, "  %-8s %s\n", c->name, c->summary);
	fprintf(out,
		"\nOptions, before or after the command:\n%s"
		"  -V, --version     version (before the command)\n\n"
		"Exit status: 0 ok, 1 usage, 2 the kernel refused, 3 drift found,\n"
		"4 the mtag module is not loaded.\n"
		"`mtagctl help COMMAND` says more; so does mtagctl(8).\n",
		common_options);
}

void ctl_command_help(const struct command *c)
{
	printf("Usage: mtagctl %s%s%s\n\n%s%s%s", c->name, *c->args ? " " : "", c->args, c->help,
	       *c->help ? "\n" : "", common_options);
}

int cmd_help(struct ctl *ctl, int argc, char **argv)
{
	const struct command *command;
	int opt = ctl_no_options(ctl, argc, argv);

	if (opt != CTL_OPT_DONE)
		return ctl_opt_status(opt);
	if (argc - optind > 1) {
		ctl_error("help takes one command");
		return CTL_USAGE;
	}
	if (argc == optind) {
		usage(stdout);
		return CTL_OK;
	}
	command = ctl_find(argv[optind]);
	if (!command) {
		ctl_error("no command '%s'; `mtagctl help` lists them", argv[optind]);
		return CTL_USAGE;
	}
	ctl_command_help(command);
	return CTL_OK;
}

/* One of the options that every command takes. */
static bool common_option(struct ctl *ctl, int opt)
{
	switch (opt) {
	case 'p':
		ctl->pretty = true;
		ctl->json = true;
		return true;
	case 'j':
		ctl->json = true;
		return true;
	case 's':
		ctl->stats = true;
		return true;
	default:
		return false;
	}
}

static void bad_option(char **argv)
{
	const struct command *command = ctl_find(argv[0]);
	char letter[] = {'-', (char)optopt, '\0'};
	/* A long one that does not exist or takes no value is in argv; of -abc the letter is told. */
	const char *option =
		optopt && strncmp(argv[optind - 1], "--", 2) ? letter : argv[optind - 1];

	if (command)
		ctl_error("%s: no option '%s'; see `mtagctl help %s`", argv[0], option, argv[0]);
	else
		ctl_error("no option '%s'; see `mtagctl help`", option);
}

int ctl_getopt(struct ctl *ctl, int argc, char **argv, const char *shorts,
	       const struct option *longs)
{
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (opt == ':') {
			ctl_error("%s: option '%s' needs a value", argv[0], argv[optind - 1]);
			return CTL_OPT_BAD;
		}
		if (opt == '?') {
			bad_option(argv);
			return CTL_OPT_BAD;
		}
		if (opt == 'h' && ctl_find(argv[0])) {
			ctl_command_help(ctl_find(argv[0]));
			return CTL_OPT_HELP;
		}
		if (!common_option(ctl, opt))
			return opt;
	}
	return CTL_OPT_DONE;
}

int ctl_no_options(struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {CTL_LONGS};

	return ctl_getopt(ctl, argc, argv, ":" CTL_SHORTS, longs);
}

int ctl_opt_status(int opt)
{
	return opt == CTL_OPT_HELP ? CTL_OK : CTL_USAGE;
}

/* Runs the command at argv[0]. */
static int dispatch(struct ctl *ctl, int argc, char **argv)
{
	const struct command *command;

	if (!argc) {
		usage(stderr);
		return CTL_USAGE;
	}
	command = ctl_find(argv[0]);
	if (!command) {
		ctl_error("no command '%s'; `mtagctl help` lists them", argv[0]);
		return CTL_USAGE;
	}
	optind = 0; /* getopt starts again */
	return command->run(ctl, argc, argv);
}

static int global_options(struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {{"version", no_argument, NULL, 'V'}, CTL_LONGS};
	int opt;

	while ((opt = ctl_getopt(ctl, argc, argv, "+:V" CTL_SHORTS, longs)) >= 0) {
		if (opt == 'V')
			printf("mtagctl %s\n", MTAG_VERSION);
		else
			usage(stdout);
		return CTL_OPT_HELP;
	}
	return opt;
}

int main(int argc, char **argv)
{
	static char name[] = "mtagctl";
	struct ctl ctl = {0};
	int opt, status;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	if (argc < 1)
		return CTL_USAGE;
	argv[0] = name;
	opt = global_options(&ctl, argc, argv);
	status = opt == CTL_OPT_DONE ? dispatch(&ctl, argc - optind, argv + optind)
				     : ctl_opt_status(opt);
	if (fflush(stdout) || ferror(stdout)) {
		ctl_error("cannot write the output: %s", strerror(errno));
		status = status ? status : CTL_REFUSED;
	}
	return status;
}
