/* SPDX-License-Identifier: GPL-2.0 */
/* Which top-level tags have a colour of their own. */
#ifndef MTAGCTL_PICTURE_HUE_H
#define MTAGCTL_PICTURE_HUE_H

#include "picture/block.h"
#include "picture/palette.h"

/*
 * Gives each of the largest top-level tags, those of the same name together, a hue, and all below them
 * the same; none has less than @least bytes. @tops[hue - 1] is then such a tag; NULL if there are fewer.
 * 0 or -ENOMEM.
 */
int hue_by_top(struct blocks *blocks, double least, const struct tag *tops[HUES]);

#endif
