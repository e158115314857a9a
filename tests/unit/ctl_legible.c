// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/label.c */
/* sources: ctl/format/dot.c */
/* mtagctl: the text in every box of a graph can be read, whatever share of the process the box has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "format/dot.h"

#define MIB (1024 * 1024ULL)

static double luminance(unsigned int rgb)
{
	static const double weights[] = {0.2126, 0.7152, 0.0722};
	double sum = 0;

	for (unsigned int i = 0; i < 3; i++) {
		double c = (double)(rgb >> (16 - 8 * i) & 0xff) / 255;

		sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

/* The contrast of two colours as WCAG defines it, 1 to 21. */
static double contrast(unsigned int a, unsigned int b)
{
	double x = luminance(a), y = luminance(b);

	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* A graph of 101 processes, whose tags have from 0 to 100 %. Caller frees it. */
static char *graph(void)
{
	struct snap shares = {0};
	char *text = NULL;
	size_t size = 0;
	struct fmt fmt = {.out = open_memstream(&text, &size), .utf8 = true};

	for (uint16_t percent = 0; percent <= 100; percent++) {
		struct proc *proc = snap_proc(&shares, percent + 1, "p");

		proc_add_tag(proc, 0, 0, "")->c[MTAG_C_ANON] = (100ULL - percent) * MIB;
		proc_add_tag(proc, 2, 0, "t")->c[MTAG_C_ANON] = percent * MIB;
	}
	snap_finish(&shares);
	dot_print(&fmt, &shares);
	fclose(fmt.out);
	snap_clear(&shares);
	return text;
}

/* Text of the size in these boxes needs a contrast of 4.5 to their fill. */
static void legible(char *text)
{
	static const unsigned int reds9[] = {0xfff5f0, 0xfee0d2, 0xfcbba1, 0xfc9272, 0xfb6a4a,
					     0xef3b2c, 0xcb181d, 0xa50f15, 0x67000d};
	unsigned int seen = 0, colour;
	bool good = true;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		const char *fill = strstr(line, "fillcolor=");
		bool white = strstr(line, "fontcolor=\"#ffffff\"");

		if (!fill || sscanf(fill, "fillcolor=%u", &colour) != 1)
			continue;
		seen |= 1U << colour;
		good &= colour >= 1 && colour <= ARRAY_SIZE(reds9) &&
			contrast(reds9[colour - 1], white ? 0xffffff : 0) >= 4.5;
	}
	ok(good && seen == 0xfe,
	   "the text of a graph has a contrast of 4.5 on each of its colours");
}

int main(void)
{
	char *text = graph();

	legible(text);
	free(text);
	return tap_end();
}
