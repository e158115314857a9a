/* SPDX-License-Identifier: GPL-2.0 */
/* Where to print, how wide and in which characters. */
#ifndef MTAGCTL_FMT_H
#define MTAGCTL_FMT_H

#include <stdbool.h>
#include <stdio.h>

/* How to print; set by fmt_init(), or by a test. */
struct fmt {
	FILE *out;
	bool terminal;
	bool utf8;
	bool colour;
	bool stats;
	bool pretty;
	bool by_pid;
	unsigned int width;
	unsigned int height;
};

struct ctl;
void fmt_init(struct fmt *fmt, const struct ctl *ctl);
/* Prints to a file instead, which is no terminal. */
void fmt_redirect(struct fmt *fmt, FILE *out);
/* Updates width and height, as a window may be resized. */
void fmt_resize(struct fmt *fmt);

#endif
