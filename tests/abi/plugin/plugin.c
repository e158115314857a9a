// SPDX-License-Identifier: GPL-2.0
/* A shared library that uses libmtag, for dlopen.c: the header's inline code, beside the library's. */
#include <mtag.h>

mtag_t in_plugin(const char *name, char *p, size_t len);

/* Touches pages in the tag of that name. */
mtag_t in_plugin(const char *name, char *p, size_t len)
{
	mtag_t tag = mtag_child(MTAG_UNTAGGED, name), before;

	/* The stack that calls need, and the thread's word, are there before the tag counts. */
	mtag_leave(mtag_enter(mtag_current()));
	before = mtag_enter(tag);
	for (size_t at = 0; at < len; at += 4096)
		((volatile char *)p)[at] = 1;
	mtag_leave(before);
	return tag;
}
