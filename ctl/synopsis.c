// SPDX-License-Identifier: GPL-2.0
/* Options and arguments as the table of commands describes them to people. */
#include <ctype.h>
#include <string.h>

#include "synopsis.h"

bool span_is(struct span span, const char *text)
{
	return span.length == strlen(text) && !memcmp(span.text, text, span.length);
}

/* Takes a part of @length off @at, and @more behind it. */
static struct span take(const char **at, size_t length, size_t more)
{
	struct span span = {*at, length};

	*at += length + more;
	return span;
}

/* The word at @at stands for a value: it is in capitals, or a choice. */
static bool is_value(const char *at)
{
	size_t length = strcspn(at, " \n");

	if (memchr(at, '|', length))
		return true;
	for (size_t i = 0; i < length; i++)
		if (islower((unsigned char)at[i]))
			return false;
	return isupper((unsigned char)*at);
}

static void read_line(const char *at, struct option_line *line)
{
	*line = (struct option_line){.name = {at, 0}, .value = {at, 0}, .about = {at, 0}};
	for (;; at += 2) {
		if (at[1] == '-') {
			at += 2;
			line->name = take(&at, strcspn(at, " ,[\n"), 0);
		} else {
			line->letter = at[1];
			at += 2;
		}
		if (strncmp(at, ", -", 3) != 0)
			break;
	}
	line->optional = !strncmp(at, "[=", 2);
	if (line->optional) {
		at += 2;
		line->value = take(&at, strcspn(at, "]\n"), 0);
		at += *at == ']';
	} else if (*at == ' ' && is_value(at + 1)) {
		at++;
		line->value = take(&at, strcspn(at, " \n"), 0);
	}
	at += strspn(at, " ");
	line->about = take(&at, strcspn(at, "\n"), 0);
}

bool synopsis_option(const char **help, struct option_line *line)
{
	while (**help) {
		const char *at = *help;
		size_t length = strcspn(at, "\n");

		*help += length + (at[length] == '\n');
		if (strncmp(at, "  -", 3) != 0 || length < 4)
			continue;
		read_line(at + 2, line);
		return true;
	}
	return false;
}

bool synopsis_choice(struct span *choices, struct span *word)
{
	const char *at = choices->text, *end = at + choices->length;
	size_t length = 0;

	while (at + length < end && !strchr("|, \n", at[length]))
		length++;
	*word = take(&at, length, 0);
	if (!length)
		return false;
	at += strspn(at, "|, \n");
	at += !strncmp(at, "or ", 3) ? 3 : 0;
	*choices = (struct span){at, at < end ? (size_t)(end - at) : 0};
	return true;
}

static bool has_capital(struct span span)
{
	for (size_t i = 0; i < span.length; i++)
		if (isupper((unsigned char)span.text[i]))
			return true;
	return false;
}

/* The length of "table, tree or json" at @at, or 0 if it is something else. */
static size_t list_length(const char *at)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *p = at;

	for (;;) {
		size_t length = strspn(p, letters);

		p += length;
		if (!length)
			return 0;
		if (!strncmp(p, " or ", 4))
			break;
		/* The list may go on in the next line. */
		if (*p != ',' || !strspn(p + 1, " \n"))
			return 0;
		p += 1 + strspn(p + 1, " \n");
	}
	p += 4;
	return (size_t)(p - at) + strspn(p, letters);
}

struct span synopsis_choices(const struct option_line *line)
{
	if (line->value.length && memchr(line->value.text, '|', line->value.length))
		return line->value;
	/* One word that is no placeholder, as in [=exact]. */
	if (line->optional && !has_capital(line->value))
		return line->value;
	if (!line->value.length || line->optional)
		return (struct span){line->value.text, 0};
	return (struct span){line->about.text, list_length(line->about.text)};
}

/* Of "-f", "--rules" and the like in the usage line: the next word is its value. */
static bool needs_value(const struct command *command, struct span word)
{
	const char *help = command->help;
	struct option_line line;

	while (synopsis_option(&help, &line)) {
		bool same = word.length == 2 ? word.text[1] == line.letter
					     : word.length == line.name.length + 2 &&
						       !memcmp(word.text + 2, line.name.text,
							       line.name.length);

		if (same)
			return line.value.length && !line.optional;
	}
	return false;
}

/* The next word of the usage line, without brackets. Empty at its end. */
static struct span next_word(const char **at)
{
	size_t length;

	*at += strspn(*at, " [");
	length = strcspn(*at, " ][");
	return take(at, length, strcspn(*at + length, " "));
}

struct span synopsis_argument(const struct command *command, unsigned int nth)
{
	const char *at = command->args;
	unsigned int have = 0;
	struct span word;

	while ((word = next_word(&at)).length) {
		if (span_is(word, "|")) { /* another way to call it */
			have = 0;
		} else if (*word.text == '-') {
			if (needs_value(command, word))
				next_word(&at);
		} else {
			bool repeats =
				word.length > 3 && !memcmp(word.text + word.length - 3, "...", 3);

			word.length -= repeats ? 3 : 0;
			if (have++ == nth || repeats)
				return word;
		}
	}
	return (struct span){at, 0};
}
