// SPDX-License-Identifier: GPL-2.0
/* A line is parsed by json-c, which takes numbers that are too large, and keys that come twice. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "offline/line.h"

const char *line_kind(const char *text, size_t length)
{
	static const struct {
		const char *begins, *says;
	} kinds[] = {
		{"\x1f\x8b",
		 "the file is compressed; decompress it, as by `zcat FILE | mtagctl ... --from -`"},
		{"\x28\xb5\x2f\xfd", "the file is compressed; decompress it with zstd"},
		{"\xfd\x37zXZ", "the file is compressed; decompress it with xz"},
		{"BZh", "the file is compressed; decompress it with bzip2"},
		{"\xef\xbb\xbf",
		 "the file begins with a byte order mark; a snapshot begins with {"},
		{"\xff\xfe", "the file is UTF-16; a snapshot is UTF-8"},
		{"\xfe\xff", "the file is UTF-16; a snapshot is UTF-8"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t begin = strlen(kinds[i].begins);

		if (length >= begin && !memcmp(text, kinds[i].begins, begin))
			return kinds[i].says;
	}
	return NULL;
}

bool line_has_large(const char *text, size_t length)
{
	const size_t most = strlen(LINE_LARGEST);
	bool quoted = false;

	for (size_t i = 0, n; i < length; i += n) {
		n = 0;
		while (!quoted && i + n < length && isdigit((unsigned char)text[i + n]))
			n++;
		if (n > most || (n == most && memcmp(text + i, LINE_LARGEST, n) > 0))
			return true;
		if (n)
			continue;
		if (text[i] == '"')
			quoted = !quoted;
		n = quoted && text[i] == '\\' ? 2 : 1;
	}
	return false;
}

/* The length of the string at @text, with its quotes. */
static size_t string_length(const char *text, const char *end)
{
	const char *p = text + 1;

	while (p < end && *p != '"')
		p += *p == '\\' ? 2 : 1;
	return p < end ? (size_t)(p - text) + 1 : (size_t)(end - text);
}

/* A place in a line of valid JSON. */
struct place {
	const char *at, *end;
	int depth;
};

/* The next key of the object that the line is, with its quotes, or NULL. */
static const char *next_key(struct place *place, size_t *length)
{
	while (place->at < place->end) {
		const char *text = place->at, *behind;

		place->depth += *text == '{' || *text == '[';
		place->depth -= *text == '}' || *text == ']';
		*length = *text == '"' ? string_length(text, place->end) : 1;
		place->at += *length;
		behind = place->at;
		while (behind < place->end && isspace((unsigned char)*behind))
			behind++;
		if (*text == '"' && place->depth == 1 && behind < place->end && *behind == ':')
			return text;
	}
	return NULL;
}

struct key {
	const char *text;
	size_t length;
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return memcmp(x->text, y->text, x->length);
}

const char *line_key_twice(const char *text, size_t length, size_t keys, size_t *key_length)
{
	/* They are the same only when their escapes are read. */
	static const char escaped[] = "with an escape";
	_cleanup_(freep) struct key *all = NULL;
	struct place place = {text, text + length, 0};
	size_t have = 0, n = 0;

	while (next_key(&place, key_length))
		have++;
	if (have <= keys)
		return NULL;
	all = calloc(have, sizeof(*all));
	place = (struct place){text, text + length, 0};
	while (all && n < have && (all[n].text = next_key(&place, &all[n].length)))
		n++;
	if (n)
		qsort(all, n, sizeof(*all), by_key);
	for (size_t i = 1; i < n; i++) {
		*key_length = all[i].length;
		if (!by_key(&all[i - 1], &all[i]))
			return all[i].text;
	}
	*key_length = strlen(escaped);
	return escaped;
}

static const char *parse(struct json_tokener *tokener, const char *text, size_t length,
			 struct json_object **object)
{
	enum json_tokener_error err;

	json_tokener_reset(tokener);
	*object = json_tokener_parse_ex(tokener, text, (int)length);
	err = json_tokener_get_error(tokener);
	return err == json_tokener_success ? NULL : json_tokener_error_desc(err);
}

/*
 * json-c 0.18, which Debian 13 has, takes each character beyond ASCII in a strict text for a control character
 * (its issue 892). So it first looks at the text without them.
 */
static const char *parse_characters(struct json_tokener *strict, const char *text, size_t length,
				    struct json_object **object)
{
	_cleanup_(freep) char *ascii = malloc(length);
	struct json_tokener *tokener;
	const char *error;

	if (!ascii)
		return "out of memory";
	for (size_t i = 0; i < length; i++)
		ascii[i] = text[i] & 0x80 ? '?' : text[i];
	error = parse(strict, ascii, length, object);
	json_object_put(*object);
	*object = NULL;
	if (error)
		return error;
	tokener = json_tokener_new();
	if (!tokener)
		return "out of memory";
	json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
	error = parse(tokener, text, length, object);
	json_tokener_free(tokener);
	return error;
}

const char *line_parse(struct json_tokener *strict, const char *text, size_t length,
		       struct json_object **object)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] & 0x80)
			return parse_characters(strict, text, length, object);
	return parse(strict, text, length, object);
}
