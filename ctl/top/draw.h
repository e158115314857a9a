/* SPDX-License-Identifier: GPL-2.0 */
/* Puts together what top shows on the screen: the frame, the table, or the help. */
#ifndef MTAGCTL_TOP_DRAW_H
#define MTAGCTL_TOP_DRAW_H

#include "format/fmt.h"
#include "top/feed.h"
#include "top/screen.h"
#include "top/view.h"

/* The rows of the table for which there is room. */
size_t draw_page(const struct fmt *fmt);
void draw(struct screen *screen, const struct fmt *fmt, const struct view *view,
	  const struct feed *feed);

#endif
