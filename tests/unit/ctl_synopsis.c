// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/synopsis.c */
/* mtagctl: options and arguments as help texts describe them. */
#include <string.h>

#include "ctl_tap.h"
#include "synopsis.h"

static const char help[] = "  -f, --format F    table, tree or json\n"
			   "  -o, --output FILE write to FILE\n"
			   "                    or not\n"
			   "  --sort COLUMN     pid, name, rss or peak: what is first\n"
			   "  --by tag|cgroup   what has a row\n"
			   "  --by-thread[=name|tid]  threads\n"
			   "  --stacks[=1/N]    or one of N\n"
			   "  --heap[=exact]    sample\n"
			   "  --pss             RSS by share\n"
			   "  -n, --count N     one, or two or more\n"
			   "  -x Y              short\n"
			   "Not an option: -q, --quiet\n";

static bool is(struct span span, const char *text)
{
	bool good = span_is(span, text);

	if (!good)
		printf("# '%.*s', not '%s'\n", (int)span.length, span.text, text);
	return good;
}

static void test_options(void)
{
	static const struct {
		char letter;
		const char *name, *value, *about, *choices;
		bool optional;
	} want[] = {
		{'f', "format", "F", "table, tree or json", "table tree json", false},
		{'o', "output", "FILE", "write to FILE", "", false},
		{'\0', "sort", "COLUMN", "pid, name, rss or peak: what is first",
		 "pid name rss peak", false},
		{'\0', "by", "tag|cgroup", "what has a row", "tag cgroup", false},
		{'\0', "by-thread", "name|tid", "threads", "name tid", true},
		{'\0', "stacks", "1/N", "or one of N", "", true},
		{'\0', "heap", "exact", "sample", "exact", true},
		{'\0', "pss", "", "RSS by share", "", false},
		{'n', "count", "N", "one, or two or more", "", false},
		{'x', "", "Y", "short", "", false},
	};
	struct option_line line;
	const char *rest = help;

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		char choices[64] = "", title[64];
		struct span left, word;
		bool good = synopsis_option(&rest, &line);

		left = synopsis_choices(&line);
		while (synopsis_choice(&left, &word))
			sprintf(strchr(choices, '\0'), "%s%.*s", *choices ? " " : "",
				(int)word.length, word.text);
		snprintf(title, sizeof(title), "the line of --%s is understood", want[i].name);
		ok(good && line.letter == want[i].letter && is(line.name, want[i].name) &&
			   is(line.value, want[i].value) && is(line.about, want[i].about) &&
			   !strcmp(choices, want[i].choices) && line.optional == want[i].optional,
		   title);
	}
	ok(!synopsis_option(&rest, &line), "then there is none");
}

static void test_arguments(void)
{
	static const struct {
		const char *args, *want[4];
	} lines[] = {
		{"", {"", "", "", ""}},
		{"[-f F] [-o FILE] [PID...]", {"PID", "PID", "PID", "PID"}},
		{"A B | --pss FILE...", {"A", "B", "FILE", "FILE"}},
		{"--output FILE [-x Y] A...", {"A", "A", "A", "A"}},
		{"[--by-thread[=name|tid]] [--by tag|cgroup] -- CMD...",
		 {"CMD", "CMD", "CMD", "CMD"}},
		{"PID [TAG [BYTES]]", {"PID", "TAG", "BYTES", ""}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct command command = {.args = lines[i].args, .help = help};
		char title[100];
		bool good = true;

		for (unsigned int nth = 0; nth < 4; nth++)
			good &= is(synopsis_argument(&command, nth), lines[i].want[nth]);
		snprintf(title, sizeof(title), "the arguments of '%s' are found", lines[i].args);
		ok(good, title);
	}
}

int main(void)
{
	test_options();
	test_arguments();
	return tap_end();
}
