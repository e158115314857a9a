/* SPDX-License-Identifier: GPL-2.0 */
/* A line of a snapshot file: parsed by json-c, and what that does not say of it. */
#ifndef MTAGCTL_OFFLINE_LINE_H
#define MTAGCTL_OFFLINE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>

#define LINE_LARGEST "18446744073709551615"
#define LINE_KIND    8 /* bytes that tell of what kind a file is */

/* What is wrong with a file that begins with these bytes, of another kind than text; or NULL. */
const char *line_kind(const char *text, size_t length);
/* A number is larger than the largest one. */
bool line_has_large(const char *text, size_t length);
/*
 * A key, with its quotes, that the JSON object in the line has more than once, or NULL; json-c counted
 * @keys different ones.
 */
const char *line_key_twice(const char *text, size_t length, size_t keys, size_t *key_length);
/*
 * Parses a line, by a tokener that is strict and of any depth. Returns NULL, and an @object that the caller puts; or
 * what is wrong.
 */
const char *line_parse(struct json_tokener *strict, const char *text, size_t length,
		       struct json_object **object);

#endif
