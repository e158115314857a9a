// SPDX-License-Identifier: GPL-2.0
/*
 * A squarified treemap (Bruls, Huizing, van Wijk, 2000): a row of boxes along the shorter side of what is
 * left takes in the next one as long as that makes its worst box more square. Positions are percentages,
 * so that it fills any width; the browser cuts the names.
 */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/text.h"
#include "picture/markup.h"
#include "picture/treemap.h"

#define SMALLEST   200.0 /* square pixels; what is smaller is merged */
#define HEAD	   19.0	 /* pixels, the line with the name above the parts of a box */
#define FRAME	   2.0
#define GAP	   1.0
#define PARTS_WIDE 56.0 /* a box that is smaller is not divided */
#define PARTS_HIGH 52.0
#define TEXT_WIDE  40.0 /* a box that is smaller has no text */
#define TEXT_HIGH  18.0
#define SIZE_HIGH  34.0 /* one that is lower has no size below the name */
#define PAD	   5.0
#define FONT	   12.0

const char treemap_style[] =
	".map{width:100%;margin-top:8px}.map foreignObject{pointer-events:none}"
	".map p{margin:0;padding:2px 5px;height:100%;box-sizing:border-box;font-size:12px;"
	"line-height:15px;overflow:hidden}"
	".map b,.map i{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;"
	"font-style:normal;font-weight:400}"
	".map b{font-weight:600}.map .in b,.map .in i{display:inline}"
	".map .in{white-space:nowrap;text-overflow:ellipsis}.map g:hover>rect{opacity:.8}\n";

struct rect {
	double x, y, w, h;
};

struct treemap {
	FILE *out;
	const struct blocks *blocks;
	double width, height;
};

static int place(const struct treemap *map, const struct block *block, struct rect r);

static void print_place(const struct treemap *map, const struct rect *r)
{
	fprintf(map->out, " x=\"%.3f%%\" y=\"%.3f%%\" width=\"%.3f%%\" height=\"%.3f%%\"",
		100 * r->x / map->width, 100 * r->y / map->height, 100 * r->w / map->width,
		100 * r->h / map->height);
}

/* A name and a size: in a line if other boxes are below them, else in two if there is room. */
static int print_text(const struct treemap *map, const struct block *block, struct rect r,
		      bool in_line)
{
	_cleanup_(freep) char *name = block_name(block);
	char size[16];
	double wide;

	if (!name)
		return -ENOMEM;
	if (r.w < TEXT_WIDE || r.h < TEXT_HIGH)
		return 0;
	if (in_line)
		r.h = HEAD;
	fputs("<foreignObject", map->out);
	print_place(map, &r);
	fprintf(map->out, "><p%s><b>", in_line ? " class=\"in\"" : "");
	markup_fit(map->out, name, 1e9);
	fputs("</b>", map->out);
	text_size(size, block_rss(block->all));
	wide = markup_width(size) + (in_line ? markup_width(name) : 0);
	/* A number is shown as a whole or not at all. */
	if (wide * FONT + 2 * PAD <= r.w && (in_line || r.h >= SIZE_HIGH))
		fprintf(map->out, " <i>%s</i>", size);
	fputs("</p></foreignObject>", map->out);
	return 0;
}

static int print_box(const struct treemap *map, const struct block *block, struct rect r,
		     bool divided)
{
	unsigned int class = divided ? 9 : block->hue;

	r.w = r.w > 3 * GAP ? r.w - GAP : r.w;
	r.h = r.h > 3 * GAP ? r.h - GAP : r.h;
	fputs("<g>", map->out);
	if (block_title(map->out, map->blocks, block))
		return -ENOMEM;
	fprintf(map->out, "<rect class=\"c%u\"", class);
	print_place(map, &r);
	fputs("/>", map->out);
	if (print_text(map, block, r, divided))
		return -ENOMEM;
	fputs("</g>\n", map->out);
	return 0;
}

/* How far the worst box of a row is from a square: its longer side by its shorter one. */
static double worst(double sum, double least, double most, double side)
{
	double thick = sum / side;

	return most / thick / thick > thick * thick / least ? most / thick / thick
							    : thick * thick / least;
}

/* Boxes of @items from @i on that make a row along @side; their areas are @scale a byte. */
static size_t take_row(const struct block *items, size_t i, size_t n, double scale, double side,
		       double *sum)
{
	double most = items[i].size * scale, before = 0;

	*sum = 0;
	for (; i < n; i++) {
		double area = items[i].size * scale, now = worst(*sum + area, area, most, side);

		if (*sum > 0 && now > before)
			break;
		before = now;
		*sum += area;
	}
	return i;
}

static int place_row(const struct treemap *map, const struct block *items, size_t n, double scale,
		     struct rect row, bool across)
{
	for (size_t i = 0; i < n; i++) {
		double area = items[i].size * scale;
		struct rect r = row;

		if (across)
			r.w = area / row.h;
		else
			r.h = area / row.w;
		if (place(map, &items[i], r))
			return -ENOMEM;
		row.x += across ? r.w : 0;
		row.y += across ? 0 : r.h;
	}
	return 0;
}

/* Places boxes, the largest first, so that they fill @r. */
static int place_all(const struct treemap *map, const struct block *items, size_t n, double size,
		     struct rect r)
{
	double scale = r.w * r.h / size;

	for (size_t i = 0, next; i < n; i = next) {
		bool across = r.h > r.w; /* a row along the top, not down the left side */
		double sum, side = across ? r.w : r.h;
		struct rect row = r;

		next = take_row(items, i, n, scale, side, &sum);
		if (across)
			row.h = sum / side;
		else
			row.w = sum / side;
		if (place_row(map, items + i, next - i, scale, row, across))
			return -ENOMEM;
		r.x += across ? 0 : row.w;
		r.y += across ? row.h : 0;
		r.w -= across ? 0 : row.w;
		r.h -= across ? row.h : 0;
		/* What rounding leaves is nothing to divide. */
		r.w = r.w > 1e-9 ? r.w : 1e-9;
		r.h = r.h > 1e-9 ? r.h : 1e-9;
	}
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return (x->size < y->size) - (x->size > y->size);
}

/* What is within a block: its kids that can be seen, the rest of them, and what it owns itself. */
static size_t list_items(const struct treemap *map, const struct block *block, double least,
			 struct block *items)
{
	struct block rest, own = *block;
	size_t n = block_visible(map->blocks, block, least, &rest);

	for (size_t i = 0; i < n; i++)
		items[i] = *block_kid(map->blocks, block, i);
	own.itself = true;
	own.n = 0;
	own.size = 0;
	for (size_t i = 0; i < PARTS; i++)
		own.all[i] = own.own[i];
	for (size_t i = 0; i < PART_SWAP; i++)
		own.size += (double)own.own[i];
	if (own.size > 0)
		items[n++] = own;
	if (rest.size > 0)
		items[n++] = rest;
	qsort(items, n, sizeof(*items), by_size);
	return n;
}

static int divide(const struct treemap *map, const struct block *block, struct rect r)
{
	_cleanup_(freep) struct block *items = calloc(block->n + 2, sizeof(*items));
	double least = SMALLEST / (r.w * r.h) * block->size;
	size_t n;

	if (!items)
		return -ENOMEM;
	n = list_items(map, block, least, items);
	return place_all(map, items, n, block->size, r);
}

/* MTAG_DEPTH_MAX and the length of a stack bound the recursion. */
static int place(const struct treemap *map, const struct block *block, struct rect r)
{
	bool divided = block->n && r.w >= PARTS_WIDE && r.h >= PARTS_HIGH;

	/* The whole has no box; what is too small has one, but no process either. */
	if (block != &map->blocks->blocks[0] && print_box(map, block, r, divided))
		return -ENOMEM;
	if (!divided)
		return 0;
	if (block->proc)
		r = (struct rect){r.x + FRAME, r.y + HEAD, r.w - 2 * FRAME - GAP,
				  r.h - HEAD - FRAME - GAP};
	return divide(map, block, r);
}

int treemap_print(FILE *out, const struct blocks *blocks, double width, double height,
		  const char *class)
{
	struct treemap map = {out, blocks, width, height};
	const struct block *root = &blocks->blocks[0];
	int err;

	fprintf(out, "<svg class=\"map %s\" height=\"%.0f\">\n", class, height);
	err = root->size > 0 ? place(&map, root, (struct rect){0, 0, width, height}) : 0;
	fputs("</svg>\n", out);
	return err;
}
