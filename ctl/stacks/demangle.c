// SPDX-License-Identifier: GPL-2.0
/* The names of C++ and Rust functions as people write them: by libiberty. */
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include <libiberty/demangle.h>

#include "stacks/demangle.h"

#define LONGEST 65536 /* of a name that is looked at */
/* Of what becomes of it: a name of 400 bytes may stand for more than any memory holds. */
#define MOST 16384

struct text {
	size_t n;
	jmp_buf full;
	char text[MOST];
};

static void add(const char *piece, size_t n, void *data)
{
	struct text *text = data;

	if (n > MOST - text->n)
		longjmp(text->full, 1);
	memcpy(text->text + text->n, piece, n);
	text->n += n;
}

/* False if @name is none of its language, or too long. The demanglers hold nothing when add() leaves them. */
static bool becomes(const char *name, struct text *text)
{
	text->n = 0;
	if (setjmp(text->full))
		return false;
	if (rust_demangle_callback(name, DMGL_AUTO, add, text))
		return true;
	text->n = 0;
	return cplus_demangle_v3_callback(name, DMGL_AUTO, add, text);
}

char *demangle(const char *name)
{
	struct text text;

	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == '_') &&
	    strlen(name) < LONGEST && becomes(name, &text))
		return strndup(text.text, text.n);
	return strndup(name, strcspn(name, "@"));
}
