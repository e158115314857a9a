/* SPDX-License-Identifier: GPL-2.0 */
/* What stands around the table of top: the lines above it, the keys below it, and the help. */
#ifndef MTAGCTL_TOP_FRAME_H
#define MTAGCTL_TOP_FRAME_H

#include "format/fmt.h"
#include "top/feed.h"
#include "top/view.h"

/* The lines above the table; the last one has a prompt, a message or the filter. */
#define FRAME_LINES 4

/* Each prints at most fmt->width columns, without an end of line. */
void frame_line(const struct fmt *fmt, unsigned int line, const struct view *view,
		const struct feed *feed);
/* Where the cursor stands in a prompt, on the last of these lines. */
unsigned int frame_cursor(const struct fmt *fmt, const struct view *view);
void frame_keys(const struct fmt *fmt);
/* Returns false behind the last line of the help. */
bool frame_help(const struct fmt *fmt, unsigned int line);

#endif
