// SPDX-License-Identifier: GPL-2.0
/* The words of a command line: the options that every command takes, its help, and process ids. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "fail.h"
#include "option.h"
#include "parse.h"
#include "utf8.h"

const char option_common[] =
	"  -j, --json        print a JSON array of flat objects, sizes in bytes\n"
	"  -p, --pretty      print indented JSON\n"
	"  -s, --statistics  print more statistics\n"
	"  -h, --help        print this help\n";

void option_help(const struct command *c)
{
	printf("Usage: mtagctl %s%s%s\n\n%s%s%s", c->name, *c->args ? " " : "", c->args, c->help,
	       *c->help ? "\n" : "", option_common);
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

static void refuse_option(const struct ctl *ctl, char **argv)
{
	char letter[] = {'-', (char)optopt, '\0'};
	/* Of -abc, name the letter; a long option, unknown or with a bad value, is in argv. */
	const char *option =
		optopt && strncmp(argv[optind - 1], "--", 2) ? letter : argv[optind - 1];

	if (ctl->command)
		fail_print("%s: invalid option '%s'; see `mtagctl help %s`", argv[0], option,
			   argv[0]);
	else
		fail_print("invalid option '%s'; see `mtagctl help`", option);
}

int option_next(struct ctl *ctl, int argc, char **argv, const char *shorts,
		const struct option *longs)
{
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (opt == ':') {
			fail_print("%s: option '%s' needs a value", argv[0], argv[optind - 1]);
			return OPTION_BAD;
		}
		if (opt == '?') {
			refuse_option(ctl, argv);
			return OPTION_BAD;
		}
		if (opt == 'h' && ctl->command) {
			option_help(ctl->command);
			return OPTION_HELP;
		}
		if (!common_option(ctl, opt))
			return opt;
	}
	return OPTION_DONE;
}

int option_none(struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {OPTION_LONGS};

	return option_next(ctl, argc, argv, ":" OPTION_SHORTS, longs);
}

int option_status(int opt)
{
	return opt == OPTION_HELP ? CTL_OK : CTL_USAGE;
}

int option_pids(int argc, char **argv, pid_t **pids)
{
	*pids = calloc((size_t)argc + 1, sizeof(**pids));
	if (!*pids) {
		fail_print("out of memory");
		return CTL_REFUSED;
	}
	for (int i = 0; i < argc; i++) {
		int err = parse_pid(argv[i], &(*pids)[i]);
		_cleanup_(freep) char *text = utf8_clean(argv[i], false);

		if (err) {
			fail_print(err == -ERANGE ? "process id '%s' is too large (at most %d)"
						  : "invalid process id '%s' (1 to %d)",
				   text ? text : "?", INT_MAX);
			return CTL_USAGE;
		}
	}
	return 0;
}
