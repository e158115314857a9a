/* SPDX-License-Identifier: GPL-2.0 */
/* A treemap as SVG within HTML: boxes in boxes, their areas the resident bytes. */
#ifndef MTAGCTL_PICTURE_TREEMAP_H
#define MTAGCTL_PICTURE_TREEMAP_H

#include "picture/block.h"

/*
 * Lays it out for @width, to which it is not bound, and @height pixels, as an element of this class.
 * Needs treemap_style. 0 or -ENOMEM.
 */
int treemap_print(FILE *out, const struct blocks *blocks, double width, double height,
		  const char *class);
extern const char treemap_style[];

#endif
