/* SPDX-License-Identifier: GPL-2.0 */
/* A chart of the tags over time, as SVG within HTML. */
#ifndef MTAGCTL_PICTURE_CHART_H
#define MTAGCTL_PICTURE_CHART_H

#include <stdio.h>

#include "picture/timeline.h"

/* The bytes of the tags that have a hue, and of all others, at each sample. */
struct chart {
	const struct timeline *timeline;
	const struct line **lines; /* those with a hue */
	size_t n_lines;
	uint64_t *values; /* n_samples of each line, then of all others */
	uint64_t most;	  /* of all of these */
	size_t others;	  /* how many they are */
};

/* The timeline is ranked. 0 or -ENOMEM. */
int chart_make(struct chart *chart, const struct timeline *timeline);
void chart_clear(struct chart *chart);
/* False if all samples are of the same time. */
bool chart_has_span(const struct timeline *timeline);

/* An element of this class; @labels: with names at the ends of the lines. Needs chart_style. */
int chart_print(FILE *out, const struct chart *chart, double width, double height, bool labels,
		const char *class);
/* A list of the lines with their first, last and highest values, for people and where labels lack room. */
int chart_print_legend(FILE *out, const struct chart *chart);
extern const char chart_style[];

#endif
