/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers strings, from 0, so that each different one is kept once. */
#ifndef MTAGCTL_FORMAT_STRINGS_H
#define MTAGCTL_FORMAT_STRINGS_H

#include <stddef.h>
#include <sys/types.h>

/**
 * struct strings - initially all 0
 * @texts:	by their numbers
 * @tree:	the same, to be found
 */
struct strings {
	char **texts;
	size_t n;
	size_t room;
	void *tree;
};

/* The number of the @length bytes at @text, which have no NUL, or -ENOMEM. */
ssize_t strings_add(struct strings *strings, const char *text, size_t length);
void strings_clear(struct strings *strings);

/*
 * Numbers the components of a path, outermost first, into @out, which has room for
 * strings_components(). Empty components are left out. Returns how many there are, or -ENOMEM.
 */
ssize_t strings_add_path(struct strings *strings, const char *path, size_t *out);
/* No fewer than the components of @path. */
size_t strings_components(const char *path);

#endif
