// SPDX-License-Identifier: GPL-2.0
/*
 * An icicle as SVG that needs no script: names and sizes are text where they fit, and each box has a
 * title, which a browser shows under the pointer.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "ctl.h"
#include "format/text.h"
#include "picture/hue.h"
#include "picture/icicle.h"
#include "picture/markup.h"
#include "utf8.h"

#define WIDTH	 1200.0
#define MARGIN	 12.0
#define ROW	 36 /* a box and the gap below it */
#define BOX	 35
#define TOP	 62 /* above the first row */
#define BOTTOM	 44 /* below the last one, for the legend */
#define FONT	 12.0
#define PAD	 5.0
#define THINNEST 2.0 /* boxes that are thinner are merged */

struct icicle {
	FILE *out;
	struct blocks blocks;
	const struct tag *tops[HUES];
	double scale; /* of a byte */
};

/* The levels of boxes that are wide enough to be drawn. */
static unsigned int count_levels(const struct icicle *p, const struct block *block)
{
	struct block rest;
	size_t n = block_visible(&p->blocks, block, THINNEST / p->scale, &rest);
	unsigned int most = rest.merged ? 1 : 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int levels = 1 + count_levels(p, block_kid(&p->blocks, block, i));

		most = levels > most ? levels : most;
	}
	return most;
}

static int draw_text(const struct icicle *p, const struct block *block, double x, int y,
		     double width)
{
	_cleanup_(freep) char *name = block_name(block);
	double ems = (width - 2 * PAD) / FONT;
	char size[16], percent[16], both[40];
	uint64_t rss = block_rss(block->all);

	if (!name)
		return -ENOMEM;
	/* Not even two letters fit. */
	if (ems < 2)
		return 0;
	fprintf(p->out, "<text class=\"ink\" x=\"%.1f\" y=\"%d\">", x + PAD, y + 15);
	markup_fit(p->out, name, ems);
	fputs("</text>", p->out);
	snprintf(both, sizeof(both), "%s %s", text_size(size, rss),
		 text_percent(percent, rss, block_rss(p->blocks.blocks[0].all)));
	if (markup_width(size) > ems)
		return 0;
	fprintf(p->out, "<text class=\"ink\" x=\"%.1f\" y=\"%d\">%s</text>", x + PAD, y + 29,
		markup_width(both) > ems ? size : both);
	return 0;
}

static int draw_box(const struct icicle *p, const struct block *block, double x, int y)
{
	double width = block->size * p->scale;
	unsigned int class = block->merged || !block->tag ? 9 : block->hue;

	/* An empty box says nothing unless something of it is in swap. */
	if (!block_rss(block->all) && !block->all[PART_SWAP])
		return 0;
	fputs("<g>", p->out);
	if (block_title(p->out, &p->blocks, block))
		return -ENOMEM;
	fprintf(p->out, "<rect class=\"c%u\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>",
		class, x, y, width > 4 ? width - 1 : width * 0.75, BOX);
	if (draw_text(p, block, x, y, width))
		return -ENOMEM;
	fputs("</g>\n", p->out);
	return 0;
}

/* A block, and below it its kids from left to right. MTAG_DEPTH_MAX and the length of a stack bound the recursion. */
static int draw(const struct icicle *p, const struct block *block, double x, int y)
{
	struct block rest;
	size_t n = block_visible(&p->blocks, block, THINNEST / p->scale, &rest);

	if (draw_box(p, block, x, y))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct block *kid = block_kid(&p->blocks, block, i);

		if (draw(p, kid, x, y + ROW))
			return -ENOMEM;
		x += kid->size * p->scale;
	}
	return rest.merged ? draw_box(p, &rest, x, y + ROW) : 0;
}

static int draw_head(const struct icicle *p, const struct subject *subject, int height)
{
	fprintf(p->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" "
		"viewBox=\"0 0 %.0f %d\">\n<title>%s</title>\n<style>\n"
		/* Where a window is wider it grows; where it is narrower it is scrolled, not made too small to read. */
		"svg{width:max(100%%,%.0fpx);height:auto;color-scheme:light dark}\n"
		"text{font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
		"text.head{font-size:16px;font-weight:600}g:hover rect{opacity:.8}\n%s</style>\n"
		"<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n"
		"<text class=\"ink head\" x=\"%.0f\" y=\"26\">%s: ",
		WIDTH, height, WIDTH, height, subject_title(subject), WIDTH, palette_areas, MARGIN,
		subject_title(subject));
	subject_summary(p->out, subject->snap);
	fprintf(p->out, "</text>\n<text class=\"note\" x=\"%.0f\" y=\"47\">", MARGIN);
	if (subject_origin(p->out, subject->origin))
		return -ENOMEM;
	fputs(". The wider a box, the more it owns; below it are its parts, and what they leave "
	      "blank is its own.</text>\n",
	      p->out);
	return 0;
}

/* The legend: a colour for each of the largest top-level tags. */
static int draw_legend(const struct icicle *p, int y)
{
	double x = MARGIN, room = (WIDTH - 2 * MARGIN) / (HUES + 1) - 36;

	for (unsigned int i = 0; i <= HUES; i++) {
		_cleanup_(freep) char *name = NULL;
		bool last = i == HUES || !p->tops[i];

		name = utf8_clean_export(last ? "others" : p->tops[i]->name);
		if (!name)
			return -ENOMEM;
		fprintf(p->out,
			"<rect class=\"c%u\" x=\"%.1f\" y=\"%d\" width=\"12\" height=\"12\"/>"
			"<text class=\"note\" x=\"%.1f\" y=\"%d\">",
			last ? 0 : i + 1, x, y, x + 17, y + 10);
		markup_fit(p->out, name, room / FONT);
		fputs("</text>\n", p->out);
		if (last)
			break;
		x += 36 + fmin(room, markup_width(name) * FONT);
	}
	return 0;
}

static void icicle_clear(struct icicle *p)
{
	blocks_clear(&p->blocks);
}

int icicle_print(const struct fmt *fmt, const struct subject *subject)
{
	_cleanup_(icicle_clear) struct icicle p = {.out = fmt->out};
	const struct block *root;
	int levels;

	if (blocks_make(&p.blocks, subject->snap))
		return -ENOMEM;
	root = &p.blocks.blocks[0];
	p.scale = (WIDTH - 2 * MARGIN) / (root->size > 0 ? root->size : 1);
	if (hue_by_top(&p.blocks, THINNEST / p.scale, p.tops))
		return -ENOMEM;
	levels = 1 + (int)count_levels(&p, root);
	if (draw_head(&p, subject, TOP + levels * ROW + BOTTOM) || draw(&p, root, MARGIN, TOP) ||
	    draw_legend(&p, TOP + levels * ROW + 18))
		return -ENOMEM;
	fputs("</svg>\n", fmt->out);
	return 0;
}
