// SPDX-License-Identifier: GPL-2.0
/* Draws top: the lines of the frame and of the table, and what stands out in them. */
#include <stdio.h>

#include "ctl.h"
#include "top/draw.h"
#include "top/frame.h"
#include "top/table.h"
#include "utf8.h"

#define HEAD	    FRAME_LINES
#define WIDTH_LEAST 40
#define LEAST	    8  /* lines */
#define WITH_KEYS   12 /* from this height the last line has the keys */

/* A line that is being printed into memory. */
struct line {
	struct fmt fmt;
	char *text;
	size_t size;
};

/* Where to print the line, or NULL without memory: it stays empty. */
static const struct fmt *begin_line(struct line *line, const struct fmt *fmt)
{
	*line = (struct line){.fmt = *fmt};
	line->fmt.out = open_memstream(&line->text, &line->size);
	return line->fmt.out ? &line->fmt : NULL;
}

static void end_line(struct line *line, struct screen *screen, unsigned int at)
{
	if (!fclose(line->fmt.out))
		screen_line(screen, at, line->text);
	free(line->text);
}

size_t draw_page(const struct fmt *fmt)
{
	unsigned int others = FRAME_LINES + 1 + (fmt->height >= WITH_KEYS);

	return fmt->height > others ? fmt->height - others : 1;
}

static void draw_frame(struct screen *screen, const struct fmt *fmt, const struct view *view,
		       const struct feed *feed)
{
	struct line line;

	for (unsigned int i = 0; i < FRAME_LINES; i++) {
		if (!begin_line(&line, fmt))
			continue;
		frame_line(&line.fmt, i, view, feed);
		end_line(&line, screen, i);
	}
	screen_style(screen, 0, 0, sizeof("mtagctl top") - 1, STYLE_BOLD);
	if (view->prompt || *view->message)
		screen_style(screen, FRAME_LINES - 1, 0, fmt->width, STYLE_BOLD);
	if (fmt->height < WITH_KEYS || !begin_line(&line, fmt))
		return;
	frame_keys(&line.fmt);
	end_line(&line, screen, fmt->height - 1);
	screen_style(screen, fmt->height - 1, 0, fmt->width, STYLE_REVERSE);
}

static void draw_head(struct screen *screen, const struct fmt *fmt, const struct table *table,
		      const struct view *view)
{
	unsigned int at, width;
	struct line line;

	if (!begin_line(&line, fmt))
		return;
	table_head(table, &line.fmt, view->by);
	end_line(&line, screen, HEAD);
	screen_style(screen, HEAD, 0, fmt->width, STYLE_REVERSE);
	if (!table_span(table, view->by, view->sort, &at, &width))
		return;
	/* The cell of a number has a blank before it. */
	if (!rows_sort_is_name(view->sort)) {
		at++;
		width--;
	}
	screen_style(screen, HEAD, at, width, STYLE_SORTED);
}

static void draw_row(struct screen *screen, const struct fmt *fmt, const struct table *table,
		     const struct rows *rows, const struct row *row, unsigned int at)
{
	int64_t delta = rows_delta(rows, row);
	unsigned int x, width;
	struct line line;

	if (!begin_line(&line, fmt))
		return;
	table_row(table, &line.fmt, rows, row);
	end_line(&line, screen, at);
	if (delta && table_span(table, rows->by, SORT_DELTA, &x, &width))
		screen_style(screen, at, x, width, delta > 0 ? STYLE_GROWN : STYLE_SHRUNK);
}

static void draw_table(struct screen *screen, const struct fmt *fmt, const struct view *view,
		       const struct rows *rows)
{
	size_t page = draw_page(fmt);
	struct table table;

	table_layout(&table, fmt, rows, view->kib);
	table.marks = true;
	draw_head(screen, fmt, &table, view);
	for (size_t i = 0; i < page && view->first + i < rows->n_list; i++) {
		unsigned int at = HEAD + 1 + (unsigned int)i;

		draw_row(screen, fmt, &table, rows, &rows->row[rows->list[view->first + i]], at);
		if (view->first + i == view->selected)
			screen_style(screen, at, 0, fmt->width, STYLE_REVERSE);
	}
}

static void draw_help(struct screen *screen, const struct fmt *fmt)
{
	struct line line;
	bool more = true;

	for (unsigned int i = 0; i < fmt->height && more; i++) {
		if (!begin_line(&line, fmt))
			return;
		more = frame_help(&line.fmt, i);
		end_line(&line, screen, i);
	}
	screen_style(screen, 0, 0, fmt->width, STYLE_BOLD);
}

void draw(struct screen *screen, const struct fmt *fmt, const struct view *view,
	  const struct feed *feed)
{
	screen_begin(screen);
	if (fmt->width < WIDTH_LEAST || fmt->height < LEAST) {
		screen_line(screen, 0, "too small");
	} else if (view->help) {
		draw_help(screen, fmt);
	} else {
		draw_frame(screen, fmt, view, feed);
		draw_table(screen, fmt, view, &feed->rows);
		if (view->prompt)
			screen_cursor(screen, FRAME_LINES - 1, frame_cursor(fmt, view));
	}
	screen_end(screen);
}
