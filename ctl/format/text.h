/* SPDX-License-Identifier: GPL-2.0 */
/* Text for terminals: sizes, cells, and names that may hold anything. */
#ifndef MTAGCTL_TEXT_H
#define MTAGCTL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How to print: found out once by fmt_init(), or set by a test. */
struct fmt {
	FILE *out;
	bool terminal;
	bool utf8;
	bool colour;
	bool stats;
	bool pretty;
	unsigned int width;
	unsigned int height;
};

struct ctl;
void fmt_init(struct fmt *fmt, const struct ctl *ctl);
/* Width and height, which change when a window does. */
void fmt_resize(struct fmt *fmt);

/* Printable UTF-8, complete. */
bool text_is_printable(const char *s, size_t len);
/* A copy, with \xNN for what is not printable (nor ASCII, unless @utf8) and \\ for \. */
char *text_clean(const char *s, bool utf8);
/* The same of a message that has names in it: \ stays, and so does what the locale has. */
char *text_safe(const char *s);
/* A copy of valid UTF-8, with U+FFFD for what is not. */
char *text_utf8(const char *s);
/* Writes JSON with \uNNNN for what is not printable, which is within strings. */
void text_json(FILE *out, const char *json);
/* Columns of what text_clean() made. */
unsigned int text_width(const char *clean);

#define COL_SIZE  9 /* of a cell with a blank before it */
#define COL_DELTA 10

/* "12.5MiB", at most 8 columns. */
const char *text_size(char buf[16], uint64_t bytes);
/* "+12.5MiB", "-4.0KiB", "0". */
const char *text_delta(char buf[16], uint64_t now, uint64_t before);
/* At most 8 columns: rounded when it is very large. */
const char *text_count(char buf[24], uint64_t n);
const char *text_percent(char buf[16], uint64_t part, uint64_t whole);

/* Prints @name cleaned in exactly @width columns; a long one loses its beginning, or its end. */
enum cut { CUT_BEGINNING, CUT_END };
void text_cell(const struct fmt *fmt, const char *name, unsigned int width, enum cut cut);
/* Like printf("%*s", …). */
void text_right(const struct fmt *fmt, int width, const char *text);

#endif
