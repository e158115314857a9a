// SPDX-License-Identifier: GPL-2.0
/* What watch prints: the tags of a process, and how they changed since the last sample. */
#include <errno.h>
#include <time.h>

#include "ctl.h"
#include "format/label.h"
#include "format/show.h"
#include "format/text.h"
#include "format/watch.h"

#define OTHERS_WIDTH (5 * COL_SIZE + COL_DELTA)
#define FRAME_ROWS   4 /* process, headings, "… more", total */

#define RED	     "\033[31m"
#define GREEN	     "\033[32m"
#define PLAIN	     "\033[0m"

static uint64_t rss_before(const struct sample *sample, const struct tag *tag)
{
	const struct tag *before;

	if (!sample->before)
		return tag_rss(tag);
	before = proc_find_tag(sample->before, tag->id);
	return before ? tag_rss(before) : 0;
}

static int by_rss(const void *a, const void *b, void *arg)
{
	const struct proc *proc = arg;
	const struct tag *x = &proc->tags[*(const size_t *)a];
	const struct tag *y = &proc->tags[*(const size_t *)b];

	if (tag_rss(x) != tag_rss(y))
		return tag_rss(x) > tag_rss(y) ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static void print_delta(const struct fmt *fmt, uint64_t now, uint64_t before)
{
	char buf[16];
	const char *text = text_delta(buf, now, before);

	if (!fmt->colour || now == before) {
		text_right(fmt, COL_DELTA, text);
		return;
	}
	fputs(now > before ? RED : GREEN, fmt->out);
	text_right(fmt, COL_DELTA, text);
	fputs(PLAIN, fmt->out);
}

/* @bars is the width of its @spark, 0: none. */
static void print_row(const struct fmt *fmt, const uint64_t *c, uint64_t before,
		      const struct spark *spark, unsigned int bars, const char *eol)
{
	static const int columns[] = {MTAG_C_ANON, MTAG_C_FILE, MTAG_C_SHMEM, MTAG_C_SWAP};
	uint64_t rss = c[MTAG_C_ANON] + c[MTAG_C_FILE] + c[MTAG_C_SHMEM];
	char buf[16];

	text_right(fmt, COL_SIZE, text_size(buf, rss));
	print_delta(fmt, rss, before);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		text_right(fmt, COL_SIZE, text_size(buf, c[columns[i]]));
	if (bars) {
		fputc(' ', fmt->out);
		spark_print(fmt, spark, bars);
	}
	fputs(eol, fmt->out);
}

static void print_head(const struct fmt *fmt, const struct sample *sample, unsigned int width,
		       unsigned int bars, const char *eol)
{
	static const char *const heads[] = {"ANON", "FILE", "SHMEM", "SWAP"};
	time_t seconds = (time_t)(sample->time_ms / 1000);
	char clock[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm) && localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(fmt->out, "%s  sample %lu  ", clock, sample->number);
	label_proc(fmt, sample->now, eol);
	text_cell(fmt, "TAG", width, CUT_END);
	text_right(fmt, COL_SIZE, "RSS");
	text_right(fmt, COL_DELTA, fmt->utf8 ? "Δ" : "CHANGE");
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		text_right(fmt, COL_SIZE, heads[i]);
	if (bars)
		fputs(" HISTORY", fmt->out);
	fputs(eol, fmt->out);
}

/* The width of the names, and what they and the numbers leave for the bars. */
static unsigned int divide_width(const struct fmt *fmt, const struct sample *sample,
				 unsigned int *bars)
{
	unsigned int others = OTHERS_WIDTH + (sample->history ? 1 + SPARK_LEAST : 0);
	unsigned int width = label_width(fmt, sample->now, others);
	unsigned int used = OTHERS_WIDTH + width + 1;

	*bars = sample->history && fmt->width > used ? fmt->width - used : 0;
	if (*bars > SPARK_MOST)
		*bars = SPARK_MOST;
	if (*bars >= SPARK_LEAST)
		return width;
	*bars = 0;
	return label_width(fmt, sample->now, OTHERS_WIDTH);
}

/* The shown tags, the largest first. */
static size_t pick_tags(const struct proc *proc, size_t *order)
{
	size_t n = 0;

	for (size_t i = 0; i < proc->n_tags; i++)
		if (tag_is_shown(&proc->tags[i]))
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_rss, (void *)proc);
	return n;
}

int watch_text(const struct fmt *fmt, const struct sample *sample, unsigned int rows,
	       const char *eol)
{
	const struct proc *proc = sample->now;
	_cleanup_(freep) size_t *order = calloc(proc->n_tags + 1, sizeof(*order));
	const struct sparks *history = sample->history;
	unsigned int bars, width = divide_width(fmt, sample, &bars);
	uint64_t sum[MTAG_C_NR];
	size_t n, fit;

	if (!order)
		return -ENOMEM;
	n = pick_tags(proc, order);
	fit = rows <= FRAME_ROWS ? 1 : rows - FRAME_ROWS;
	if (!rows || n <= fit + 1) /* the line "… more" takes as much room as one more tag */
		fit = n;
	print_head(fmt, sample, width, bars, eol);
	for (size_t i = 0; i < fit; i++) {
		const struct tag *tag = &proc->tags[order[i]];

		text_cell(fmt, label_of(tag), width, CUT_BEGINNING);
		print_row(fmt, tag->c, rss_before(sample, tag),
			  history ? &history->tags[order[i]] : NULL, bars, eol);
	}
	if (fit < n)
		fprintf(fmt->out, "%s %zu more%s", fmt->utf8 ? "…" : "...", n - fit, eol);
	proc_sum(proc, sum);
	text_cell(fmt, "total", width, CUT_END);
	print_row(fmt, sum, sample->before ? sample->before->rss : proc->rss,
		  history ? &history->total : NULL, bars, eol);
	return 0;
}

int watch_json(const struct fmt *fmt, const struct sample *sample)
{
	_cleanup_(json_putp) struct json_object *array = json_object_new_array();

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < sample->now->n_tags; i++) {
		const struct tag *tag = &sample->now->tags[sample->now->order[i]];
		struct json_object *object;

		if (!tag_is_shown(tag))
			continue;
		object = json_add_object(array);
		json_add_u64(object, "time_ms", sample->time_ms);
		label_json(object, sample->now, tag);
		show_add_counters(object, tag, fmt->stats);
		json_add_i64(object, "rss_delta_bytes",
			     (int64_t)(tag_rss(tag) - rss_before(sample, tag)));
	}
	return json_print(fmt, array);
}
