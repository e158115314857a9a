// SPDX-License-Identifier: GPL-2.0
/* Numbers strings, from 0, so that each different one is kept once. */
#include <errno.h>
#include <search.h>
#include <string.h>

#include "ctl.h"
#include "format/strings.h"

struct string {
	size_t number;
	char text[];
};

static int by_text(const void *a, const void *b)
{
	const struct string *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static int make_room(struct strings *strings)
{
	size_t room = strings->room ? strings->room * 2 : 64;
	char **texts;

	if (strings->n < strings->room)
		return 0;
	texts = reallocarray(strings->texts, room, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	strings->texts = texts;
	strings->room = room;
	return 0;
}

ssize_t strings_add(struct strings *strings, const char *text, size_t length)
{
	_cleanup_(freep) struct string *string = malloc(sizeof(*string) + length + 1);
	struct string **place;

	if (!string || make_room(strings))
		return -ENOMEM;
	string->number = strings->n;
	memcpy(string->text, text, length);
	string->text[length] = '\0';
	place = tsearch(string, &strings->tree, by_text);
	if (!place)
		return -ENOMEM;
	if (*place == string) {
		strings->texts[strings->n++] = string->text;
		string = NULL; /* the tree has it */
	}
	return (ssize_t)(*place)->number;
}

void strings_clear(struct strings *strings)
{
	tdestroy(strings->tree, free);
	free(strings->texts);
	*strings = (struct strings){0};
}

size_t strings_components(const char *path)
{
	size_t n = 1;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

ssize_t strings_add_path(struct strings *strings, const char *path, size_t *out)
{
	ssize_t n = 0;

	for (size_t length; *path; path += length) {
		ssize_t number;

		path += *path == '/';
		length = strcspn(path, "/");
		if (!length)
			continue;
		number = strings_add(strings, path, length);
		if (number < 0)
			return number;
		out[n++] = (size_t)number;
	}
	return n;
}
