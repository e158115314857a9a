/* SPDX-License-Identifier: GPL-2.0 */
/* The tags of all processes as an HTML table. */
#ifndef MTAGCTL_PICTURE_TABLE_H
#define MTAGCTL_PICTURE_TABLE_H

#include <stdio.h>

#include "picture/timeline.h"

/* The largest first. The hues are those of the timeline. Needs table_style. 0 or -ENOMEM. */
int table_print(FILE *out, const struct snap *snap, const struct timeline *timeline);
extern const char table_style[];
/* Makes its headings buttons that sort it. */
extern const char table_script[];

#endif
