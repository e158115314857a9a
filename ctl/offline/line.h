/* SPDX-License-Identifier: GPL-2.0 */
/* What the reader of JSON does not say of a line of a snapshot file. */
#ifndef MTAGCTL_OFFLINE_LINE_H
#define MTAGCTL_OFFLINE_LINE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
