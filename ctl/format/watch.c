// SPDX-License-Identifier: GPL-2.0
/* What watch prints: the tags of a process, and how they changed since the last sample. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "ctl.h"
#include "format/heap.h"
#include "format/label.h"
#include "format/show.h"
#include "format/text.h"
#include "format/watch.h"

#define LEAST_WIDTH (2 * COL_SIZE + COL_DELTA) /* of the numbers that each line has */
#define FILES_WIDTH (2 * COL_SIZE)
#define HEAP_WIDTH  (2 * COL_SIZE)
#define FRAME_ROWS  4 /* process, headings, "… more", total */

#define RED	    "\033[31m"
#define GREEN	    "\033[32m"
#define PLAIN	    "\033[0m"

/* What the tag had. An id may have become another tag's, by exec or in a process that got the number. */
static uint64_t rss_before(const struct sample *sample, const struct tag *tag)
{
	const struct tag *before;

	if (!sample->before)
		return tag_rss(tag);
	before = proc_find_tag(sample->before, tag->id);
	if (!before || strcmp(before->path, tag->path))
		before = proc_find_path(sample->before, tag->path);
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

/**
 * struct layout - what stands in a line
 * @tag:	width of the names
 * @bars:	width of the bars, 0: none
 * @heap:	what is asked of the allocator, and wasted
 * @files:	file pages and shared memory: where there is no room, the heap is worth more
 * @swap:	likewise
 */
struct layout {
	unsigned int tag, bars;
	bool heap, files, swap;
};

/* A tag, or all. @has_pages: its @wasted is known. */
struct line {
	const uint64_t *c;
	uint64_t before, asked, wasted;
	bool has_pages;
	const struct spark *spark;
};

static bool knows_wasted(const struct heap_view *heap)
{
	return heap && (!heap->sums_only || heap->wasted_before);
}

static void print_row(const struct fmt *fmt, const struct layout *layout, const struct line *line,
		      const char *eol)
{
	const uint64_t *c = line->c;
	uint64_t rss = c[MTAG_C_ANON] + c[MTAG_C_FILE] + c[MTAG_C_SHMEM];
	char buf[16];

	text_right(fmt, COL_SIZE, text_size(buf, rss));
	print_delta(fmt, rss, line->before);
	if (layout->heap) {
		text_right(fmt, COL_SIZE, text_size(buf, line->asked));
		text_right(fmt, COL_SIZE, line->has_pages ? text_size(buf, line->wasted) : "-");
	}
	text_right(fmt, COL_SIZE, text_size(buf, c[MTAG_C_ANON]));
	if (layout->files) {
		text_right(fmt, COL_SIZE, text_size(buf, c[MTAG_C_FILE]));
		text_right(fmt, COL_SIZE, text_size(buf, c[MTAG_C_SHMEM]));
	}
	if (layout->swap)
		text_right(fmt, COL_SIZE, text_size(buf, c[MTAG_C_SWAP]));
	if (layout->bars) {
		fputc(' ', fmt->out);
		spark_print(fmt, line->spark, layout->bars);
	}
	fputs(eol, fmt->out);
}

static void print_tag(const struct fmt *fmt, const struct layout *layout,
		      const struct sample *sample, size_t i, const char *eol)
{
	const struct proc *proc = sample->now;
	const struct tag *tag = &proc->tags[i];
	const struct heap_tag *heap = heap_find(proc->heap, tag->id);
	const struct line line = {
		.c = tag->c,
		.before = rss_before(sample, tag),
		.asked = heap ? heap->asked : 0,
		.wasted = heap ? heap->wasted : 0,
		.has_pages = knows_wasted(proc->heap),
		.spark = sample->history ? &sample->history->tags[i] : NULL,
	};

	text_cell(fmt, label_of(tag), layout->tag, CUT_BEGINNING);
	print_row(fmt, layout, &line, eol);
}

static void print_total(const struct fmt *fmt, const struct layout *layout,
			const struct sample *sample, const char *eol)
{
	const struct proc *proc = sample->now;
	const struct heap_view *heap = proc->heap;
	uint64_t sum[MTAG_C_NR];
	struct line line = {
		.c = sum,
		.before = sample->before ? sample->before->rss : proc->rss,
		.has_pages = knows_wasted(heap),
		.spark = sample->history ? &sample->history->total : NULL,
	};

	proc_sum(proc, sum);
	for (size_t i = 0; heap && i < heap->n; i++) {
		line.asked += heap->tags[i].asked;
		line.wasted += heap->tags[i].wasted;
	}
	text_cell(fmt, "total", layout->tag, CUT_END);
	print_row(fmt, layout, &line, eol);
}

static void print_head(const struct fmt *fmt, const struct sample *sample,
		       const struct layout *layout, const char *eol)
{
	const struct {
		const char *name;
		bool shown;
	} heads[] = {
		{"ASKED", layout->heap}, {"WASTED", layout->heap}, {"ANON", true},
		{"FILE", layout->files}, {"SHMEM", layout->files}, {"SWAP", layout->swap},
	};
	time_t seconds = (time_t)(sample->time_ms / 1000);
	char clock[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm) && localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(fmt->out, "%s  sample %lu  ", clock, sample->number);
	label_proc(fmt, sample->now, eol);
	text_cell(fmt, "TAG", layout->tag, CUT_END);
	text_right(fmt, COL_SIZE, "RSS");
	text_right(fmt, COL_DELTA, fmt->utf8 ? "Δ" : "CHANGE");
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		if (heads[i].shown)
			text_right(fmt, COL_SIZE, heads[i].name);
	if (layout->bars)
		fputs(" HISTORY", fmt->out);
	fputs(eol, fmt->out);
}

/* Which numbers have room, those that are worth most first. Returns their width. */
static unsigned int lay_out_numbers(const struct fmt *fmt, const struct proc *proc,
				    struct layout *layout)
{
	unsigned int width = LEAST_WIDTH, names = LABEL_LEAST;

	layout->heap = proc->heap && fmt->width >= names + width + HEAP_WIDTH;
	width += layout->heap ? HEAP_WIDTH : 0;
	layout->swap = fmt->width >= names + width + COL_SIZE;
	width += layout->swap ? COL_SIZE : 0;
	/* Beside a heap, names in full are worth more than files. */
	if (layout->heap)
		names = label_width(fmt, proc, width);
	layout->files = layout->swap && fmt->width >= names + width + FILES_WIDTH;
	return width + (layout->files ? FILES_WIDTH : 0);
}

/* The width of the names, and what they and the numbers leave for the bars. */
static struct layout lay_out(const struct fmt *fmt, const struct sample *sample)
{
	struct layout layout = {0};
	unsigned int numbers = lay_out_numbers(fmt, sample->now, &layout), others, used;

	others = numbers + (sample->history ? 1 + SPARK_LEAST : 0);
	layout.tag = label_width(fmt, sample->now, others);
	used = numbers + layout.tag + 1;
	layout.bars = sample->history && fmt->width > used ? fmt->width - used : 0;
	if (layout.bars > SPARK_MOST)
		layout.bars = SPARK_MOST;
	if (layout.bars >= SPARK_LEAST)
		return layout;
	layout.bars = 0;
	layout.tag = label_width(fmt, sample->now, numbers);
	return layout;
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
	const struct layout layout = lay_out(fmt, sample);
	size_t n, fit;

	if (!order)
		return -ENOMEM;
	n = pick_tags(proc, order);
	fit = rows <= FRAME_ROWS ? 1 : rows - FRAME_ROWS;
	if (!rows || n <= fit + 1) /* the line "… more" takes as much room as one more tag */
		fit = n;
	print_head(fmt, sample, &layout, eol);
	for (size_t i = 0; i < fit; i++)
		print_tag(fmt, &layout, sample, order[i], eol);
	if (fit < n)
		fprintf(fmt->out, "%s %zu more%s", fmt->utf8 ? "…" : "...", n - fit, eol);
	print_total(fmt, &layout, sample, eol);
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
		heap_add_sums(object, sample->now->heap, tag->id);
		json_add_i64(object, "rss_delta_bytes",
			     (int64_t)(tag_rss(tag) - rss_before(sample, tag)));
	}
	return json_print(fmt, array);
}
