/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options and arguments as the table of commands describes them to people: help has a line
 * "  -x, --name VALUE  about" for each option, args names the arguments. VALUE is a word in capitals, or
 * the words that it can be, as in table|tree; or the line goes on with these: "table, tree or json". An
 * option whose value may be missing is --name[=VALUE].
 */
#ifndef MTAGCTL_SYNOPSIS_H
#define MTAGCTL_SYNOPSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "ctl.h"

/* A part of a text; @length is 0 for what is missing. */
struct span {
	const char *text;
	size_t length;
};

/**
 * struct option_line - a line of help that describes an option
 * @letter:	the short name, NUL if it has none
 * @name:	the long name, without its dashes
 * @value:	what stands for its value
 * @optional:	the value may be missing
 * @about:	what the line says of it
 */
struct option_line {
	char letter;
	struct span name;
	struct span value;
	bool optional;
	struct span about;
};

bool span_is(struct span span, const char *text);

/* Takes the next such line off @help; lines of another kind are skipped. False at the end. */
bool synopsis_option(const char **help, struct option_line *line);
/* Takes the next of the words that an option's value can be off @choices, at first synopsis_choices(). */
bool synopsis_choice(struct span *choices, struct span *word);
/* These words; empty if they are not listed. */
struct span synopsis_choices(const struct option_line *line);
/* What stands for the @nth argument of a command, from 0; an argument with ... for all that follow. */
struct span synopsis_argument(const struct command *command, unsigned int nth);

#endif
