// SPDX-License-Identifier: GPL-2.0
/* What json-c does not say of a line: it takes numbers that are too large, and keys that come twice. */
#include <ctype.h>
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

const char *line_key_twice(const char *text, size_t length, size_t keys, size_t *key_length)
{
	/* They are the same only when their escapes are read. */
	static const char escaped[] = "with an escape";
	struct place place = {text, text + length, 0};
	const char *key, *other;
	size_t have = 0;

	while (next_key(&place, key_length))
		have++;
	if (have <= keys)
		return NULL;
	place = (struct place){text, text + length, 0};
	while ((key = next_key(&place, key_length))) {
		struct place rest = place;
		size_t other_length;

		while ((other = next_key(&rest, &other_length)))
			if (other_length == *key_length && !memcmp(key, other, other_length))
				return key;
	}
	*key_length = strlen(escaped);
	return escaped;
}
