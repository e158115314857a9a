// SPDX-License-Identifier: GPL-2.0
/* A line for each of the largest tags, and one for the others together, so that nothing is left out. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "ctl.h"
#include "format/text.h"
#include "picture/chart.h"
#include "picture/markup.h"
#include "picture/palette.h"
#include "picture/scale.h"
#include "picture/subject.h"
#include "utf8.h"

#define FONT	   12.0
#define LEFT	   72.0	 /* for the sizes */
#define RIGHT	   14.0	 /* without labels */
#define NAMES	   200.0 /* with them */
#define ABOVE	   14.0
#define BELOW	   28.0 /* for the times */
#define LABEL_HIGH 15.0
#define TICK_WIDE  96.0
#define TICK_HIGH  60.0

const char chart_style[] =
	".chart{width:100%;height:auto}.chart text{font-size:12px}.chart .grid{stroke:#c9cdd3}"
	".chart path{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
	".chart path.k0{stroke-dasharray:5 4}.chart path:hover{stroke-width:4}"
	".legend{list-style:none;margin:8px 0;padding:0;display:grid;gap:6px 24px;"
	"grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr))}"
	".legend li{overflow-wrap:anywhere;padding-left:26px;position:relative}"
	".legend svg{width:18px;height:10px;position:absolute;left:0;top:5px}"
	".legend line{stroke-width:3}.legend small{display:block}\n"
	"@media (prefers-color-scheme:dark){.chart .grid{stroke:#3a4048}}\n";

struct plot {
	FILE *out;
	const struct chart *chart;
	double left, right, top, bottom;
	double begin, span; /* of time */
	double high;	    /* the bytes at the top */
};

/* ---- the values ---- */

static void spread(const struct line *line, uint64_t *values, size_t n)
{
	uint64_t bytes = 0;

	for (size_t i = 0, at = 0; i < n; i++) {
		if (at < line->n_points && line->points[at].sample == i)
			bytes = line->points[at++].bytes;
		values[i] = bytes;
	}
}

/* All lines without a hue: first the changes, then their sums. */
static void spread_others(struct chart *chart, uint64_t *values, size_t n)
{
	const struct timeline *t = chart->timeline;

	for (size_t i = chart->n_lines; i < t->n_lines; i++) {
		const struct line *line = t->lines[i];
		uint64_t before = 0;

		chart->others += line->n_points != 0;
		for (size_t at = 0; at < line->n_points; at++) {
			values[line->points[at].sample] += line->points[at].bytes - before;
			before = line->points[at].bytes;
		}
	}
	for (size_t i = 1; i < n; i++)
		values[i] += values[i - 1];
}

int chart_make(struct chart *chart, const struct timeline *t)
{
	size_t n = t->n_samples;

	*chart = (struct chart){.timeline = t, .lines = (const struct line **)t->lines};
	while (chart->n_lines < t->n_lines && t->lines[chart->n_lines]->hue)
		chart->n_lines++;
	chart->values = calloc(n, (chart->n_lines + 1) * sizeof(*chart->values));
	if (!chart->values)
		return -ENOMEM;
	for (size_t i = 0; i < chart->n_lines; i++)
		spread(chart->lines[i], chart->values + i * n, n);
	spread_others(chart, chart->values + chart->n_lines * n, n);
	for (size_t i = 0; i < n * (chart->n_lines + 1); i++)
		if (chart->values[i] > chart->most)
			chart->most = chart->values[i];
	return 0;
}

void chart_clear(struct chart *chart)
{
	free(chart->values);
}

bool chart_has_span(const struct timeline *t)
{
	return t->n_samples && t->times[t->n_samples - 1] > t->times[0];
}

/* ---- the axes ---- */

/* @since: the first sample */
static double x_of(const struct plot *p, double since)
{
	return p->left + since / p->span * (p->right - p->left);
}

/* Times themselves are too large for their differences. */
static double x_of_sample(const struct plot *p, size_t i)
{
	const struct timeline *t = p->chart->timeline;

	return x_of(p, (double)(t->times[i] - t->times[0]));
}

static double y_of(const struct plot *p, double bytes)
{
	return p->bottom - bytes / p->high * (p->bottom - p->top);
}

static void draw_sizes(struct plot *p)
{
	double step = scale_bytes(p->chart->most ? p->chart->most : 1,
				  (unsigned int)((p->bottom - p->top) / TICK_HIGH) + 1);
	unsigned int n = (unsigned int)ceil((double)p->chart->most / step);
	char buf[32];

	n = n ? n : 1;
	p->high = step * n;
	for (unsigned int i = 0; i <= n; i++) {
		double y = y_of(p, i * step);

		fprintf(p->out,
			"<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"note\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			p->left, p->right, y, y, p->left - 8, y + 4,
			scale_label_bytes(buf, i * step));
	}
}

/* The difference of the local time to UTC, which ticks at full hours and days need. */
static double zone_ms(uint64_t time_ms)
{
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm tm;

	return localtime_r(&seconds, &tm) ? (double)tm.tm_gmtoff * 1000 : 0;
}

/* @clock: since the local epoch. */
static void draw_tick(const struct plot *p, double time, double clock, double step)
{
	double x = x_of(p, time - p->begin);
	char buf[64], ms[8] = "";

	subject_time(buf, (uint64_t)time, scale_time_format(clock, step));
	if (step < 1000)
		snprintf(ms, sizeof(ms), ".%02u", (unsigned int)(fmod(time, 1000) / 10));
	fprintf(p->out,
		"<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
		"<text class=\"note\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s%s</text>\n",
		x, x, p->bottom, p->bottom + 5, x, p->bottom + 20, buf, ms);
}

static void draw_times(const struct plot *p)
{
	unsigned int most = (unsigned int)((p->right - p->left) / TICK_WIDE);
	double step = scale_time((uint64_t)p->span, most ? most : 1);
	double zone = zone_ms((uint64_t)p->begin);
	double first = ceil((p->begin + zone) / step);

	for (unsigned int i = 0; i <= most; i++) {
		/* The zone's offset may change within the span, by daylight saving time. */
		double clock = (first + i) * step;
		double time = clock - zone_ms((uint64_t)fmax(clock - zone, 0));

		if (time > p->begin + p->span)
			break;
		/* Half a label would be cut. */
		if (time >= 0 && x_of(p, time - p->begin) - TICK_WIDE / 3 >= 0)
			draw_tick(p, time, clock, step);
	}
}

/* ---- the lines ---- */

static void draw_point(const struct plot *p, const uint64_t *values, size_t i, bool first)
{
	fprintf(p->out, "%c%.1f %.1f", first ? 'M' : 'L', x_of_sample(p, i),
		y_of(p, (double)values[i]));
}

/* Of the samples in a pixel's column, the lowest and the highest are drawn: no peak is lost. */
static void draw_path(const struct plot *p, const uint64_t *values)
{
	const struct timeline *t = p->chart->timeline;
	size_t n = t->n_samples, next;

	for (size_t i = 0; i < n; i = next) {
		double column = floor(x_of_sample(p, i));
		size_t low = i, high = i;

		for (next = i + 1; next < n && floor(x_of_sample(p, next)) == column; next++) {
			low = values[next] < values[low] ? next : low;
			high = values[next] > values[high] ? next : high;
		}
		draw_point(p, values, low < high ? low : high, !i);
		if (low != high)
			draw_point(p, values, low < high ? high : low, false);
	}
}

/* What a line is called; NULL without memory. */
static char *line_name(const struct chart *chart, size_t line)
{
	char *name = NULL;

	if (line < chart->n_lines)
		return utf8_clean_export(chart->lines[line]->label);
	return asprintf(&name, "%zu others", chart->others) < 0 ? NULL : name;
}

static void print_values(FILE *out, const struct chart *chart, size_t line)
{
	size_t n = chart->timeline->n_samples;
	const uint64_t *values = chart->values + line * n;
	uint64_t most = 0;
	char buf[16];

	for (size_t i = 0; i < n; i++)
		most = values[i] > most ? values[i] : most;
	fprintf(out, "%s", text_size(buf, values[0]));
	fprintf(out, " → %s", text_size(buf, values[n - 1]));
	fprintf(out, ", at most %s", text_size(buf, most));
}

/* The number of lines: that of the others is one if there are any. */
static size_t count_lines(const struct chart *chart)
{
	return chart->n_lines + (chart->others != 0);
}

static int draw_lines(const struct plot *p)
{
	const struct chart *chart = p->chart;

	/* The first ones are the largest: they are drawn last, upon the others. */
	for (size_t i = count_lines(chart); i-- > 0;) {
		_cleanup_(freep) char *name = line_name(chart, i);

		if (!name)
			return -ENOMEM;
		fprintf(p->out, "<path class=\"k%u\" d=\"",
			i < chart->n_lines ? chart->lines[i]->hue : 0);
		draw_path(p, chart->values + i * chart->timeline->n_samples);
		fputs("\"><title>", p->out);
		markup_fit(p->out, name, 1e9);
		fputs("\n", p->out);
		print_values(p->out, chart, i);
		fputs("</title></path>\n", p->out);
	}
	return 0;
}

/* ---- the labels ---- */

struct label {
	size_t line;
	double y;
};

static int by_y(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	if (x->y != y->y)
		return x->y < y->y ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Moves labels apart: downwards, then up again from the bottom. */
static void spread_labels(struct label *labels, size_t n, double bottom)
{
	qsort(labels, n, sizeof(*labels), by_y);
	for (size_t i = 1; i < n; i++)
		if (labels[i].y < labels[i - 1].y + LABEL_HIGH)
			labels[i].y = labels[i - 1].y + LABEL_HIGH;
	for (size_t i = n; i-- > 0; bottom = labels[i].y - LABEL_HIGH)
		if (labels[i].y > bottom)
			labels[i].y = bottom;
}

static int draw_labels(const struct plot *p)
{
	const struct chart *chart = p->chart;
	size_t samples = chart->timeline->n_samples, n = count_lines(chart);
	struct label labels[HUES + 1];

	for (size_t i = 0; i < n; i++)
		labels[i] =
			(struct label){i, y_of(p, (double)chart->values[(i + 1) * samples - 1])};
	spread_labels(labels, n, p->bottom);
	for (size_t i = 0; i < n; i++) {
		size_t line = labels[i].line;
		_cleanup_(freep) char *name = line_name(chart, line);

		if (!name)
			return -ENOMEM;
		fprintf(p->out,
			"<line class=\"k%u\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"ink\" x=\"%.1f\" y=\"%.1f\">",
			line < chart->n_lines ? chart->lines[line]->hue : 0, p->right + 3,
			p->right + 17, y_of(p, (double)chart->values[(line + 1) * samples - 1]),
			labels[i].y, p->right + 21, labels[i].y + 4);
		markup_fit(p->out, name, (NAMES - 24) / FONT);
		fputs("</text>\n", p->out);
	}
	return 0;
}

int chart_print(FILE *out, const struct chart *chart, double width, double height, bool labels,
		const char *class)
{
	const struct timeline *t = chart->timeline;
	struct plot p = {
		.out = out,
		.chart = chart,
		.left = LEFT,
		.right = width - (labels ? NAMES : RIGHT),
		.top = ABOVE,
		.bottom = height - BELOW,
		.begin = (double)t->times[0],
		.span = (double)(t->times[t->n_samples - 1] - t->times[0]),
	};
	int err;

	fprintf(out, "<svg class=\"chart %s\" viewBox=\"0 0 %.0f %.0f\">\n", class, width, height);
	draw_sizes(&p);
	draw_times(&p);
	err = draw_lines(&p);
	if (!err && labels)
		err = draw_labels(&p);
	fputs("</svg>\n", out);
	return err;
}

int chart_print_legend(FILE *out, const struct chart *chart)
{
	fputs("<ul class=\"legend\">\n", out);
	for (size_t i = 0; i < count_lines(chart); i++) {
		_cleanup_(freep) char *name = line_name(chart, i);

		if (!name)
			return -ENOMEM;
		fprintf(out,
			"<li><svg><line class=\"k%u\" x2=\"18\" y1=\"5\" y2=\"5\"/></svg><bdi>",
			i < chart->n_lines ? chart->lines[i]->hue : 0);
		markup_fit(out, name, 1e9);
		fputs("</bdi> <small>", out);
		print_values(out, chart, i);
		fputs("</small></li>\n", out);
	}
	fputs("</ul>\n", out);
	return 0;
}
