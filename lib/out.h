/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text on its way to a stream or a file: no format of the C library's, no locale, no allocation. */
#ifndef MTAG_LIB_OUT_H
#define MTAG_LIB_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct mtag__out - where text goes
 * @file:	a stream, or NULL
 * @fd:		else a descriptor
 * @err:	the first error, -errno; nothing more is written then
 */
struct mtag__out {
	FILE *file;
	int fd;
	int err;
	size_t used;
	char buf[2048];
};

void mtag__put(struct mtag__out *out, const char *bytes, size_t len);
void mtag__puts(struct mtag__out *out, const char *text);
void mtag__putc(struct mtag__out *out, char c);
void mtag__put_number(struct mtag__out *out, uint64_t number);
/* Writes what is left, down to the file itself. Returns the first error, or 0. */
int mtag__out_end(struct mtag__out *out);

/* "12.5MiB", at most 8 columns, as mtagctl has it. */
const char *mtag__size_text(char buf[16], uint64_t bytes);
/* "12.5%". */
const char *mtag__percent_text(char buf[16], uint64_t part, uint64_t whole);

/* The length of the UTF-8 character at @s, which is not "", or 0. */
unsigned mtag__utf8(const char *s, uint32_t *cp);

#endif
