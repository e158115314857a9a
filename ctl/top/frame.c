// SPDX-License-Identifier: GPL-2.0
/* Prints the lines above the table of top, and its help. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl.h"
#include "format/text.h"
#include "top/frame.h"
#include "top/table.h"
#include "utf8.h"

static const char *const help[] = {
	"mtagctl top: which part of which program owns the resident memory, now",
	"",
	"  Space          refresh now             p            pause",
	"  + -            longer, shorter delay   d            type a delay in seconds",
	"  b F5           rows by process, by tag, by control group (v2)",
	"  Enter          unfold or fold a row    e *          unfold or fold all",
	"  Right, Left    unfold; fold, or go to the row above it",
	"  s F6           type a column to sort by, or its first letters",
	"  < >            sort by the column to the left, to the right",
	"  M N            sort by RSS, by PID     r I          invert the order",
	"  / F4           filter: a part of a name, a tag or a pid; Esc ends it",
	"  u              units: rounded, or KiB  z            also what has no memory",
	"  Up Down PgUp PgDn Home End j k g G     move",
	"  h ? F1         this help               q F10 Ctrl-C quit",
	"",
	"A folded row has the sums of what is below it, and in the last column the",
	"largest of that and how many more there are. Tags peak at different times: a",
	"sum has no PEAK; sorted by it, rows stand by the largest peak in them. With a",
	"filter, all sums and totals are of what it leaves.",
	"",
	"Any key goes back.",
};

bool frame_help(const struct fmt *fmt, unsigned int line)
{
	if (line >= ARRAY_SIZE(help))
		return false;
	text_cell(fmt, help[line], fmt->width, CUT_END);
	return true;
}

void frame_keys(const struct fmt *fmt)
{
	text_cell(fmt, "h help  q quit  Enter unfold  b group  s sort  r invert  / filter  p pause",
		  fmt->width, CUT_END);
}

static void put_title(FILE *out, const struct view *view, const struct feed *feed)
{
	time_t seconds = (time_t)(feed->now.ms / 1000);
	double ms = (double)feed->took_ns / 1e6, cpu = feed->cpu * 100;
	char clock[32] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(out, "mtagctl top %s, ", clock);
	if (view->paused)
		fputs("paused", out);
	else
		fprintf(out, "every %gs", (double)view->delay / 1e9);
	fprintf(out, "; refresh %.*fms, own CPU %.*f%%, dumps missed %lu", ms < 10, ms, cpu < 10,
		cpu, feed->missed);
}

/* "12", or with a filter "3 of 12". */
static void put_count(FILE *out, const struct view *view, size_t left, size_t all, const char *one,
		      const char *many)
{
	if (*view->filter)
		fprintf(out, "%zu of ", left);
	fprintf(out, "%zu %s", all, all == 1 ? one : many);
}

static void put_counts(FILE *out, const struct fmt *fmt, const struct view *view,
		       const struct rows *rows)
{
	static const char *const orders[2][2] = {{"largest first", "smallest first"},
						 {"ascending", "descending"}};

	put_count(out, view, rows->procs_left, rows->procs, "process", "processes");
	fputs(", ", out);
	put_count(out, view, rows->total.pairs, rows->pairs, "tag", "tags");
	fprintf(out, "; by %s, sorted by %s, %s", rows_by_name(rows->by),
		table_heading(fmt, view->sort),
		orders[rows_sort_is_name(view->sort)][view->inverted]);
}

static void put_totals(FILE *out, const struct fmt *fmt, const struct view *view,
		       const struct rows *rows)
{
	static const enum rows_sort sums[] = {SORT_RSS,	  SORT_ANON, SORT_FILE,
					      SORT_SHMEM, SORT_SWAP, SORT_DELTA};
	const struct table table = {.kib = view->kib};
	char buf[32];

	fprintf(out, "%s%s:", *view->filter ? "left" : "total", view->kib ? " KiB" : "");
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		fprintf(out, "%s %s %s", i ? "," : "", table_heading(fmt, sums[i]),
			table_number(&table, rows, &rows->total, sums[i], buf));
}

static const char *const prompts[] = {
	[PROMPT_FILTER] = "Filter: ",
	[PROMPT_SORT] = "Sort by (pid name tag rss delta asked anon file shmem swap peak): ",
	[PROMPT_DELAY] = "Delay in seconds: ",
};

unsigned int frame_cursor(const struct fmt *fmt, const struct view *view)
{
	_cleanup_(freep) char *clean = utf8_clean(view->typed, fmt->utf8);
	unsigned int at = utf8_width(prompts[view->prompt]) + (clean ? utf8_width(clean) : 0);

	return at < fmt->width ? at : fmt->width - 1;
}

static void put_prompt(FILE *out, const struct view *view, const struct feed *feed)
{
	if (view->prompt)
		fprintf(out, "%s%s", prompts[view->prompt], view->typed);
	else if (*view->message)
		fputs(view->message, out);
	else if (*view->filter)
		fprintf(out, "Filter: %s (Esc ends it)", view->filter);
	else if (!feed->rows.procs)
		fputs("no tracked process is visible to you", out);
}

void frame_line(const struct fmt *fmt, unsigned int line, const struct view *view,
		const struct feed *feed)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	if (line == 0)
		put_title(out, view, feed);
	else if (line == 1)
		put_counts(out, fmt, view, &feed->rows);
	else if (line == 2)
		put_totals(out, fmt, view, &feed->rows);
	else
		put_prompt(out, view, feed);
	if (!fclose(out))
		text_cell(fmt, text, fmt->width, CUT_END);
}
