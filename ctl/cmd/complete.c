// SPDX-License-Identifier: GPL-2.0
/*
 * mtagctl complete: what the last word of a command line can become, for the completions of shells.
 * Everything is read from the table of commands, so that a new command or option needs nothing here
 * unless its value is of a new kind.
 *
 * The first line of the output is one of
 *	words		a line for each follows: the word, and perhaps a tab and what it is
 *	files PREFIX	the shell completes the name of a file, behind PREFIX in the word
 *	directories PREFIX
 *	command N	the words from the Nth on, from 0, are another program's command line
 * or missing, when nothing is known. Words begin with what is there of the word.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "format/form.h"
#include "kern.h"
#include "offline/source.h"
#include "option.h"
#include "parse.h"
#include "probe.h"
#include "synopsis.h"
#include "utf8.h"

/**
 * struct completion - a command line so far
 * @ctl:	for the table of commands
 * @command:	its command
 * @source:	where its processes and tags are
 * @pid:	the first process that it names, or 0
 * @word:	the word to complete
 * @prefix:	how much of it comes before the value, as in --from=FILE
 */
struct completion {
	const struct ctl *ctl;
	const struct command *command;
	struct source source;
	pid_t pid;
	const char *word;
	size_t prefix;
};

/* ---- words ---- */

/* Offers @text behind the prefix. What cannot be typed is left out. */
static void offer(const struct completion *c, const char *text, size_t length, const char *about,
		  size_t about_length)
{
	const char *value = c->word + c->prefix;
	size_t have = strlen(value);

	if (have > length || memcmp(text, value, have) != 0 || !utf8_is_printable(text, length))
		return;
	printf("%.*s%.*s", (int)c->prefix, c->word, (int)length, text);
	if (about_length)
		printf("\t%.*s", (int)about_length, about);
	putchar('\n');
}

static void offer_text(const struct completion *c, const char *text, const char *about)
{
	offer(c, text, strlen(text), about, strlen(about));
}

static void offer_commands(struct completion *c)
{
	for (const struct command *command = c->ctl->commands; command->name; command++)
		if (command->summary)
			offer_text(c, command->name, command->summary);
}

static void offer_forms(struct completion *c)
{
	for (size_t i = 0; form_name(i); i++)
		offer_text(c, form_name(i), "");
}

static void offer_options(const struct completion *c, const char *help)
{
	struct option_line line;

	while (synopsis_option(&help, &line)) {
		char text[64];

		if (line.letter) {
			snprintf(text, sizeof(text), "-%c", line.letter);
			offer(c, text, 2, line.about.text, line.about.length);
		}
		if (!line.name.length)
			continue;
		snprintf(text, sizeof(text), "--%.*s", (int)line.name.length, line.name.text);
		offer(c, text, strlen(text), line.about.text, line.about.length);
	}
}

static void offer_all_options(const struct completion *c)
{
	const char *line;
	size_t at = 0;

	puts("words");
	offer_options(c, c->command ? c->command->help : option_global);
	while ((line = option_common(c->command, &at)))
		offer_options(c, line);
}

/* ---- processes and tags ---- */

static void offer_pid(const struct completion *c, pid_t pid, const char *comm)
{
	_cleanup_(freep) char *about = utf8_clean(comm, true);
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	offer_text(c, text, about ? about : "");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each text once. */
static void offer_distinct(const struct completion *c, const char **texts, size_t n)
{
	if (n)
		qsort(texts, n, sizeof(*texts), by_text);
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(texts[i], texts[i - 1]) != 0)
			offer_text(c, texts[i], "");
}

/* What history can take: pids, and names that it does not take for one. */
static void offer_ended(struct completion *c)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	_cleanup_(ledger_clear) struct ledger ledger = {0};
	_cleanup_(freep) const char **comms = NULL;
	size_t n = 0;
	pid_t pid;

	if (kern_open(&kern) || kern_history(kern, &ledger))
		return;
	for (size_t i = ledger.n; i-- > 0;)
		offer_pid(c, ledger.pasts[i].pid, ledger.pasts[i].comm);
	comms = calloc(ledger.n + 1, sizeof(*comms));
	for (size_t i = 0; comms && i < ledger.n; i++)
		if (*ledger.pasts[i].comm && parse_pid(ledger.pasts[i].comm, &pid))
			comms[n++] = ledger.pasts[i].comm;
	offer_distinct(c, comms, n);
}

/* What track can take. */
static void offer_running(const struct completion *c)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t pid;

	while (dir && (entry = readdir(dir))) {
		char path[300], comm[64];

		if (parse_pid(entry->d_name, &pid))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (probe_line(path, comm, sizeof(comm)))
			offer_pid(c, pid, comm);
	}
	if (dir)
		closedir(dir);
}

/* Processes and tags from where the command has them; none if they cannot be read. */
static void read_source(struct completion *c, pid_t pid, struct snap *snap)
{
	struct stat st;

	/* Standard input and pipes are for the command itself. */
	if (c->source.from && (stat(c->source.from, &st) || !S_ISREG(st.st_mode)))
		return;
	source_read(&c->source, &pid, pid ? 1 : 0, snap);
}

static void offer_pids(struct completion *c)
{
	_cleanup_(snap_clear) struct snap snap = {0};

	if (c->command->run == cmd_track) {
		offer_running(c);
		return;
	}
	read_source(c, 0, &snap);
	for (size_t i = 0; i < snap.n_procs; i++)
		offer_pid(c, snap.procs[i].pid, snap.procs[i].comm);
}

/* The tags of the process that was named, or of all. */
static void offer_tags(struct completion *c)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	_cleanup_(freep) const char **paths = NULL;
	size_t n = 0;

	read_source(c, c->pid, &snap);
	for (size_t i = 0; i < snap.n_procs; i++)
		n += snap.procs[i].n_tags;
	paths = calloc(n + 1, sizeof(*paths));
	if (!paths)
		return;
	n = 0;
	for (size_t i = 0; i < snap.n_procs; i++)
		for (size_t j = 0; j < snap.procs[i].n_tags; j++)
			if (snap.procs[i].tags[j].id > MTAG_ID_KSM)
				paths[n++] = snap.procs[i].tags[j].path;
	offer_distinct(c, paths, n);
}

/* ---- what a value can be ---- */

/* By what stands for it in the table of commands. Of others, such as N or SIZE, nothing is known. */
static const struct kind {
	const char *stands;
	const char *says;
	void (*offer)(struct completion *c);
} kinds[] = {
	{"PID", "words", offer_pids}, {"PID|COMM", "words", offer_ended},
	{"TAG", "words", offer_tags}, {"COMMAND", "words", offer_commands},
	{"F", "words", offer_forms},  {"FORMAT", "words", offer_forms},
	{"FILE", "files", NULL},      {"A", "files", NULL},
	{"B", "files", NULL},	      {"DIR", "directories", NULL},
};

static void complete_value(struct completion *c, struct span stands)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!span_is(stands, kinds[i].stands))
			continue;
		if (!kinds[i].offer) {
			printf("%s %.*s\n", kinds[i].says, (int)c->prefix, c->word);
			return;
		}
		puts(kinds[i].says);
		kinds[i].offer(c);
	}
}

/* The value of an option. */
static void complete_option(struct completion *c, const struct option_line *line)
{
	struct span choices = synopsis_choices(line), word;

	if (!choices.length) {
		complete_value(c, line->value);
		return;
	}
	puts("words");
	while (synopsis_choice(&choices, &word))
		offer(c, word.text, word.length, "", 0);
}

/* ---- the command line so far ---- */

static bool find_in(const char *help, const char *word, struct option_line *line)
{
	size_t length = strcspn(word, "=");

	while (synopsis_option(&help, line)) {
		if (word[1] != '-' && word[1] == line->letter)
			return true;
		if (word[1] == '-' && line->name.length && length == line->name.length + 2 &&
		    !memcmp(word + 2, line->name.text, line->name.length))
			return true;
	}
	return false;
}

/*
 * The option of a word that takes a value, and where in the word that begins: 0 if it is the next word.
 * Of -jf, f is it.
 */
static bool find_value(const struct completion *c, const char *word, struct option_line *line,
		       size_t *begins)
{
	const char *help = c->command ? c->command->help : option_global;
	const char *equals = strchr(word, '=');
	char letter[] = {'-', '\0', '\0'};

	*begins = 0;
	if (word[1] == '-') {
		if (equals)
			*begins = (size_t)(equals - word) + 1;
		return find_in(help, word, line) && line->value.length &&
		       (equals || !line->optional);
	}
	for (size_t i = 1; word[i]; i++) {
		letter[1] = word[i];
		if (!find_in(help, letter, line) || !line->value.length)
			continue;
		*begins = word[i + 1] ? i + 1 : 0;
		return *begins || !line->optional;
	}
	return false;
}

static void take_value(struct completion *c, const struct option_line *line, const char *value)
{
	if (span_is(line->name, "from"))
		c->source.from = value;
	else if (span_is(line->name, "sample"))
		parse_count(value, &c->source.sample);
}

/**
 * struct place - where the words read so far lead
 * @argument:	the number of the next argument
 * @ended:	all that follows are arguments
 * @waits:	the next word is the value of @line's option
 */
struct place {
	unsigned int argument;
	bool ended;
	bool waits;
	struct option_line line;
};

/* Returns false if this word begins another program's command line. */
static bool read_word(struct completion *c, struct place *place, const char *word)
{
	size_t begins;
	struct span stands;

	if (place->waits) {
		take_value(c, &place->line, word);
		place->waits = false;
		return true;
	}
	if (!place->ended && !strcmp(word, "--")) {
		place->ended = true;
		return true;
	}
	if (!place->ended && word[0] == '-' && word[1]) {
		if (!find_value(c, word, &place->line, &begins))
			return true;
		place->waits = !begins;
		if (begins)
			take_value(c, &place->line, word + begins);
		return true;
	}
	stands = synopsis_argument(c->command, place->argument++);
	if (span_is(stands, "PID") && !c->pid)
		parse_pid(word, &c->pid);
	return !span_is(stands, "CMD");
}

static void complete_word(struct completion *c, struct place *place, int number)
{
	bool option = !place->ended && c->word[0] == '-';
	struct span stands;
	size_t begins;

	if (place->waits) {
		complete_option(c, &place->line);
		return;
	}
	if (option && find_value(c, c->word, &place->line, &begins) && begins) {
		c->prefix = begins;
		complete_option(c, &place->line);
		return;
	}
	stands = synopsis_argument(c->command, place->argument);
	if (option || (!place->ended && !stands.length && !*c->word))
		offer_all_options(c);
	else if (span_is(stands, "CMD"))
		printf("command %d\n", number);
	else
		complete_value(c, stands);
}

static void complete(struct completion *c, int n, char **words)
{
	struct place place = {0};
	int i = 0;

	while (i < n - 1 && words[i][0] == '-')
		i++;
	c->word = words[n - 1];
	if (i == n - 1) {
		if (c->word[0] == '-')
			offer_all_options(c);
		else
			complete_value(c, (struct span){"COMMAND", 7});
		return;
	}
	for (c->command = c->ctl->commands; c->command->name; c->command++)
		if (!strcmp(c->command->name, words[i]))
			break;
	if (!c->command->name)
		return;
	for (i++; i < n - 1; i++) {
		if (read_word(c, &place, words[i]))
			continue;
		printf("command %d\n", i);
		return;
	}
	complete_word(c, &place, i);
}

int cmd_complete(struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {OPTION_LONGS};
	static char empty[] = "", *none[] = {empty};
	struct completion c = {.ctl = ctl};
	int opt = option_next(ctl, argc, argv, "+:" OPTION_SHORTS, longs);

	if (opt != OPTION_DONE)
		return option_status(opt);
	complete(&c, argc > optind ? argc - optind : 1, argc > optind ? argv + optind : none);
	return CTL_OK;
}
