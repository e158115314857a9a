// SPDX-License-Identifier: GPL-2.0
/* The words of a command line: the options that commands share, their help, and process ids. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "fail.h"
#include "option.h"
#include "parse.h"
#include "utf8.h"

#define HELP_WIDTH  80
#define HELP_INDENT 15 /* beneath the command */

static const struct common {
	char letter;
	const char *name, *line;
} commons[] = {
	{'j', "json", "  -j, --json        print a JSON array of flat objects, sizes in bytes\n"},
	{'p', "pretty", "  -p, --pretty      print indented JSON\n"},
	{'s', "statistics", "  -s, --statistics  print more statistics\n"},
	{'S', "statistics", "  --statistics      print more statistics\n"},
	{'f', "format", NULL}, /* in the command's own help, as the value of others differs */
	{'h', "help", "  -h, --help        print this help\n"},
};

const char option_global[] = "  -V, --version     print the version (before the command)\n";

const char *option_common(const struct command *c, size_t *at)
{
	while (*at < ARRAY_SIZE(commons)) {
		const struct common *common = &commons[(*at)++];

		if (common->line && strchr(c ? c->takes : "jps", common->letter))
			return common->line;
		if (common->letter == 'h')
			return common->line;
	}
	return NULL;
}

/* Up to a blank that is not in brackets. */
static int word_length(const char *text)
{
	int length = 0, depth = 0;

	for (; text[length] && (text[length] != ' ' || depth); length++)
		depth += (text[length] == '[') - (text[length] == ']');
	return length;
}

static void print_synopsis(const struct command *c)
{
	int column = printf("Usage: mtagctl %s", c->name);

	for (const char *at = c->args; *at;) {
		int length = word_length(at);

		if (column + 1 + length > HELP_WIDTH) {
			putchar('\n');
			column = printf("%*s", HELP_INDENT, "");
		}
		column += printf(" %.*s", length, at);
		at += length;
		at += *at == ' ';
	}
}

void option_help(const struct command *c)
{
	const char *line;
	size_t at = 0;

	print_synopsis(c);
	printf("\n\n%s%s", c->help, *c->help ? "\n" : "");
	while ((line = option_common(c, &at)))
		fputs(line, stdout);
}

/* Does a common option do something in this command? Says so if not. */
static bool is_taken(const struct command *c, char letter)
{
	size_t i = 0;

	if (!c || strchr(c->takes, letter) || strchr(c->takes, toupper(letter)))
		return true;
	while (commons[i].letter != letter)
		i++;
	fail_print("%s: option '-%c' (--%s) does nothing here; `mtagctl help %s` lists what does",
		   c->name, letter, commons[i].name, c->name);
	return false;
}

bool option_fits(const struct ctl *ctl)
{
	return (!ctl->stats || is_taken(ctl->command, 's')) &&
	       (!ctl->pretty || is_taken(ctl->command, 'p')) &&
	       (!ctl->json || is_taken(ctl->command, 'j'));
}

/* -f of a command that has a table and JSON. */
static bool take_format(struct ctl *ctl, const char *name)
{
	if (!ctl->command) {
		fail_print("option '-f' (--format) must follow the command; see `mtagctl help`");
		return false;
	}
	ctl->json = !strcmp(name, "json");
	if (ctl->json || !strcmp(name, "table"))
		return true;
	fail_print("%s: unknown format '%s' (table or json)", ctl->command->name, name);
	return false;
}

/* Takes one of the common options. Returns false after an error message. */
static bool common_option(struct ctl *ctl, int opt)
{
	if (!is_taken(ctl->command, (char)opt))
		return false;
	if (opt == 'f')
		return take_format(ctl, optarg);
	ctl->pretty |= opt == 'p';
	ctl->json |= opt == 'p' || opt == 'j';
	ctl->stats |= opt == 's';
	return true;
}

/* The command's own option, or a common letter that it gave to one of its own. */
static bool is_own(const struct ctl *ctl, int opt)
{
	if (opt == 'f')
		return ctl->command && strchr(ctl->command->takes, 'F');
	/* A letter of these with a value is top's -s. */
	return opt > 'z' || !strchr("jps", opt) || optarg;
}

/* The options that @option can begin, as "--one, --two" in @names. Returns how many they are. */
static int begins(const char *option, const struct option *longs, char *names, size_t size)
{
	size_t length = strcspn(option, "=");
	int n = 0;

	for (*names = '\0'; longs->name && length > 2; longs++) {
		size_t at = strlen(names);

		if (!strncmp(option, "--", 2) && !strncmp(option + 2, longs->name, length - 2))
			snprintf(names + at, size - at, "%s--%s", n++ ? ", " : "", longs->name);
	}
	return n;
}

/* @before was optind before getopt_long(), which has not gone on within a group of letters. */
static void refuse_option(const struct ctl *ctl, char **argv, int before,
			  const struct option *longs)
{
	char letter[] = {'-', (char)optopt, '\0'};
	bool in_group = optind == before || strncmp(argv[optind - 1], "--", 2) != 0;
	/* Of -abc, name the letter; a long option, unknown or with a bad value, is in argv. */
	const char *option = optopt && in_group ? letter : argv[optind - 1];
	char names[256];

	/* Of an option that is known, getopt_long() says which it was. */
	if (!optopt && begins(option, longs, names, sizeof(names)) > 1)
		fail_print("%s%soption '%s' is ambiguous (%s)", ctl->command ? argv[0] : "",
			   ctl->command ? ": " : "", option, names);
	else if (ctl->command && strchr(ctl->command->takes, 'L') &&
		 !strncmp(option, "--from", 6) && (!option[6] || option[6] == '='))
		fail_print("%s reads only the running kernel; --from does not apply", argv[0]);
	else if (ctl->command)
		fail_print("%s: invalid option '%s'; see `mtagctl help %s`", argv[0], option,
			   argv[0]);
	else
		fail_print("invalid option '%s'; see `mtagctl help`", option);
}

int option_next(struct ctl *ctl, int argc, char **argv, const char *shorts,
		const struct option *longs)
{
	int opt, before = optind;

	opterr = 0;
	for (; (opt = getopt_long(argc, argv, shorts, longs, NULL)) != -1; before = optind) {
		if (opt == ':') {
			fail_print("%s: option '%s' needs a value", argv[0], argv[optind - 1]);
			return OPTION_BAD;
		}
		if (opt == '?') {
			refuse_option(ctl, argv, before, longs);
			return OPTION_BAD;
		}
		if (opt == 'h' && ctl->command) {
			option_help(ctl->command);
			return OPTION_HELP;
		}
		if (is_own(ctl, opt))
			return opt;
		if (!common_option(ctl, opt))
			return OPTION_BAD;
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

bool option_count(const char *command, const char *text, const char *of, unsigned long *count)
{
	int err = parse_count(text, count);

	if (err == -ERANGE)
		fail_print("%s: count '%s' is too large (at most %lu)", command, text, ULONG_MAX);
	else if (err)
		fail_print("%s: invalid count '%s' (%s, at least 1)", command, text, of);
	return !err;
}

bool option_size(const char *command, const char *text, uint64_t *size)
{
	int err = parse_size(text, size);

	if (err == -ERANGE)
		fail_print("%s: size '%s' is too large (at most 8589934591G)", command, text);
	else if (err && *text == '0' && strspn(text, "0KMG") == strlen(text))
		fail_print("%s: size '%s' is too small (at least 1 byte)", command, text);
	else if (err)
		fail_print("%s: invalid size '%s' (bytes, or as 64K, 64M, 64G)", command, text);
	return !err;
}

bool option_one_in(const char *command, const char *text, uint32_t *one_in)
{
	_cleanup_(freep) char *clean = NULL;

	*one_in = 1;
	if (!text || !parse_one_in(text, one_in))
		return true;
	clean = utf8_clean(text, false);
	fail_print("%s: --stacks=%s: must be '1/N' (of N first touches one is sampled, N from 1 to "
		   "%u), or have no value (all)",
		   command, clean ? clean : "?", UINT32_MAX);
	return false;
}

const char *option_output(const char *path)
{
	return strcmp(path, "-") ? path : NULL;
}

bool option_one_input(const char *command, int n, char *const *paths, const char *other)
{
	int from = other && !strcmp(other, "-");

	for (int i = 0; i < n; i++)
		from += !strcmp(paths[i], "-");
	if (from > 1)
		fail_print("%s: standard input (-) can be given only once", command);
	return from < 2;
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
