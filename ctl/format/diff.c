// SPDX-License-Identifier: GPL-2.0
/* What diff prints: tags, or stacks, of two samples side by side, or those that only grew over a series. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ctl.h"
#include "format/diff.h"
#include "format/json.h"
#include "format/text.h"

#define COMM_WIDTH  16
#define INDENT	    4
#define STEPS_WIDTH 10
#define TAG_MIN	    12
#define WHAT_WIDTH  7

/* The parts, for JSON. The keys, and their order, are part of the contract. */
static const struct field {
	const char *delta;
	int part;
} fields[DIFF_NR] = {
	{"anon_delta_bytes", DIFF_ANON},
	{"file_delta_bytes", DIFF_FILE},
	{"shmem_delta_bytes", DIFF_SHMEM},
	{"swap_delta_bytes", DIFF_SWAP},
};

uint64_t diff_rss(const uint64_t *v)
{
	return v[DIFF_ANON] + v[DIFF_FILE] + v[DIFF_SHMEM];
}

uint64_t diff_held(const uint64_t *v)
{
	return v[DIFF_ANON] + v[DIFF_SHMEM] + v[DIFF_SWAP];
}

bool diff_has_heap(const struct diff *diff)
{
	return diff->heap_before.known && diff->heap_after.known;
}

static unsigned int tag_width(const struct fmt *fmt, unsigned int others)
{
	return fmt->width < others + TAG_MIN ? TAG_MIN : fmt->width - others;
}

/* ---- how wide ---- */

/* Widths of columns: with those of heaps, all are narrow. */
struct widths {
	unsigned int comm, tag;
	int size, delta, count;
	bool heaps;
};

static bool any_heap(const struct diffs *diffs)
{
	for (size_t i = 0; i < diffs->n; i++)
		if (diff_has_heap(diffs->diffs[i]))
			return true;
	return false;
}

static struct widths widths_for(const struct fmt *fmt, const struct diffs *diffs)
{
	struct widths w = {.comm = COMM_WIDTH,
			   .size = COL_SIZE,
			   .delta = COL_DELTA,
			   .count = STEPS_WIDTH,
			   .heaps = any_heap(diffs)};
	int numbers;

	if (w.heaps) {
		w.size = 7;
		w.delta = 7;
		w.count = 8;
		w.comm = 13;
	}
	numbers = diffs->growth ? 3 * w.size + w.delta + w.count : 2 * w.size + 2 * w.delta;
	if (w.heaps)
		numbers += diffs->growth ? w.delta + WHAT_WIDTH : 2 * w.delta + w.count;
	w.tag = tag_width(fmt, w.comm + (unsigned int)numbers);
	return w;
}

static void print_size(const struct fmt *fmt, const struct widths *w, uint64_t bytes)
{
	char buf[16];

	text_right(fmt, w->size, w->heaps ? text_brief(buf, bytes) : text_size(buf, bytes));
}

static void print_delta(const struct fmt *fmt, const struct widths *w, uint64_t now,
			uint64_t before)
{
	char buf[16];

	text_right(fmt, w->delta,
		   w->heaps ? text_brief_change(buf, (int64_t)(now - before))
			    : text_delta(buf, now, before));
}

static void print_objects(const struct fmt *fmt, const struct widths *w, uint64_t now,
			  uint64_t before)
{
	bool less = now < before;
	char count[24], buf[32];

	snprintf(buf, sizeof(buf), "%s%s",
		 now == before ? ""
		 : less	       ? "-"
			       : "+",
		 text_count(count, less ? before - now : now - before));
	text_right(fmt, w->count, buf);
}

static void print_heap(const struct fmt *fmt, const struct widths *w,
		       const struct diff_heap *before, const struct diff_heap *after)
{
	if (!before->known || !after->known) {
		text_right(fmt, w->delta, "-");
		text_right(fmt, w->delta, "-");
		text_right(fmt, w->count, "-");
		return;
	}
	print_delta(fmt, w, after->asked, before->asked);
	print_delta(fmt, w, after->wasted, before->wasted);
	print_objects(fmt, w, after->objects, before->objects);
}

/* ---- two samples ---- */

static void print_names(const struct fmt *fmt, const struct widths *w, const char *comm,
			const char *tag)
{
	text_cell(fmt, comm, w->comm - 1, CUT_END);
	fputc(' ', fmt->out);
	text_cell(fmt, *tag ? tag : "[untagged]", w->tag, CUT_BEGINNING);
}

static void print_row(const struct fmt *fmt, const struct widths *w, const uint64_t *before,
		      const uint64_t *after)
{
	print_size(fmt, w, diff_rss(before));
	print_size(fmt, w, diff_rss(after));
	print_delta(fmt, w, diff_rss(after), diff_rss(before));
	print_delta(fmt, w, after[DIFF_SWAP], before[DIFF_SWAP]);
}

static size_t count(const struct diffs *diffs)
{
	return diffs->most && diffs->most < diffs->n ? diffs->most : diffs->n;
}

/* The functions of a stack, the innermost first, as in the table of stacks. */
static void print_stack(const struct fmt *fmt, const struct diff *diff)
{
	const char *begin = diff->stack, *end = begin ? begin + strlen(begin) : NULL;

	while (end && end > begin) {
		const char *line = memrchr(begin, '\n', (size_t)(end - begin));
		_cleanup_(freep) char *name = NULL;

		line = line ? line + 1 : begin;
		name = strndup(line, (size_t)(end - line));
		fprintf(fmt->out, "%*s", INDENT, "");
		text_last(fmt, name ? name : "?", tag_width(fmt, INDENT), CUT_END);
		end = line > begin ? line - 1 : begin;
	}
}

/* What is known of the heaps of all that is compared. */
static void add_to(struct diff *total, const struct diff *diff)
{
	const struct {
		struct diff_heap *to;
		const struct diff_heap *from;
	} heaps[] = {{&total->heap_before, &diff->heap_before},
		     {&total->heap_after, &diff->heap_after}};

	for (size_t part = 0; part < DIFF_NR; part++) {
		total->before[part] += diff->before[part];
		total->after[part] += diff->after[part];
	}
	for (size_t i = 0; i < ARRAY_SIZE(heaps) && diff_has_heap(diff); i++) {
		heaps[i].to->known = true;
		heaps[i].to->asked += heaps[i].from->asked;
		heaps[i].to->objects += heaps[i].from->objects;
		heaps[i].to->wasted += heaps[i].from->wasted;
	}
}

static void print_more(const struct fmt *fmt, const struct diffs *diffs)
{
	if (count(diffs) < diffs->n)
		fprintf(fmt->out, "%zu more (-n)\n", diffs->n - count(diffs));
}

static void print_change(const struct fmt *fmt, const struct widths *w, const struct diff *diff)
{
	print_row(fmt, w, diff->before, diff->after);
	if (w->heaps)
		print_heap(fmt, w, &diff->heap_before, &diff->heap_after);
	fputc('\n', fmt->out);
}

static void print_changes(const struct fmt *fmt, const struct diffs *diffs)
{
	const struct widths w = widths_for(fmt, diffs);
	struct diff total = {0};

	print_names(fmt, &w, "COMM", "TAG");
	text_right(fmt, w.size, "BEFORE");
	text_right(fmt, w.size, "AFTER");
	text_right(fmt, w.delta, "CHANGE");
	text_right(fmt, w.delta, "SWAP");
	if (w.heaps) {
		text_right(fmt, w.delta, "ASKED");
		text_right(fmt, w.delta, "WASTED");
		text_right(fmt, w.count, "OBJECTS");
	}
	fputc('\n', fmt->out);
	for (size_t i = 0; i < diffs->n; i++) {
		const struct diff *diff = diffs->diffs[i];

		add_to(&total, diff);
		if (i >= count(diffs))
			continue;
		print_names(fmt, &w, diff->comm, diff->tag);
		print_change(fmt, &w, diff);
		print_stack(fmt, diff);
	}
	print_more(fmt, diffs);
	print_names(fmt, &w, "total", " ");
	print_change(fmt, &w, &total);
}

/* ---- a series ---- */

static uint64_t per_hour(const struct diff *diff, uint64_t span)
{
	double bytes = (double)(diff_held(diff->after) - diff_held(diff->before));
	double rate = span ? bytes * 3600e3 / (double)span : 0;

	return rate < 1e18 ? (uint64_t)rate : (uint64_t)1e18;
}

static double change(uint64_t now, uint64_t before)
{
	return (double)(int64_t)(now - before);
}

/*
 * What made most of the growth. An object that is in both samples is sampled in both or in neither: the error of the
 * change is that of what came.
 */
static const char *what_grew(const struct diff *diff)
{
	const struct diff_heap *before = &diff->heap_before, *after = &diff->heap_after;
	double half = change(diff_held(diff->after), diff_held(diff->before)) / 2;
	double asked = change(after->asked, before->asked);
	double wasted = change(after->wasted, before->wasted);
	double guests = change(after->guests, before->guests);
	double error = sqrt(fabs(after->variance - before->variance));

	if (fabs(asked - half) < error)
		return "unsure";
	if (asked >= half)
		return "live";
	if (wasted >= half)
		return "wasted";
	if (guests >= half)
		return "guests";
	return asked + wasted + guests < half ? "other" : "mixed";
}

static void print_grown(const struct fmt *fmt, const struct widths *w, const struct diff *diff,
			const struct growth *growth)
{
	uint64_t before = diff_held(diff->before), after = diff_held(diff->after);
	char buf[48];

	print_size(fmt, w, before);
	print_size(fmt, w, after);
	print_delta(fmt, w, after, before);
	print_size(fmt, w, per_hour(diff, growth->span));
	snprintf(buf, sizeof(buf), " %lu/%lu", diff->grew, growth->steps);
	text_right(fmt, w->count, buf);
	if (w->heaps && diff_has_heap(diff)) {
		print_delta(fmt, w, diff->heap_after.asked, diff->heap_before.asked);
		text_right(fmt, WHAT_WIDTH, what_grew(diff));
	} else if (w->heaps) {
		text_right(fmt, w->delta, "-");
		text_right(fmt, WHAT_WIDTH, "-");
	}
	fputc('\n', fmt->out);
}

static void print_growth(const struct fmt *fmt, const struct diffs *diffs)
{
	const struct widths w = widths_for(fmt, diffs);

	print_names(fmt, &w, "COMM", "TAG");
	text_right(fmt, w.size, "FIRST");
	text_right(fmt, w.size, "LAST");
	text_right(fmt, w.delta, "CHANGE");
	text_right(fmt, w.size, w.heaps ? "HOURLY" : "AN HOUR");
	text_right(fmt, w.count, "GREW");
	if (w.heaps) {
		text_right(fmt, w.delta, "ASKED");
		text_right(fmt, WHAT_WIDTH, "WHAT");
	}
	fputc('\n', fmt->out);
	for (size_t i = 0; i < count(diffs); i++) {
		print_names(fmt, &w, diffs->diffs[i]->comm, diffs->diffs[i]->tag);
		print_grown(fmt, &w, diffs->diffs[i], diffs->growth);
		print_stack(fmt, diffs->diffs[i]);
	}
	print_more(fmt, diffs);
}

void diff_text(const struct fmt *fmt, const struct diffs *diffs)
{
	if (diffs->growth)
		print_growth(fmt, diffs);
	else
		print_changes(fmt, diffs);
}

/* An array of names, outermost first. */
static void add_stack(struct json_object *object, const struct diff *diff)
{
	struct json_object *names = json_add(object, "stack", json_object_new_array());

	for (const char *line = diff->stack; line && *line;) {
		size_t length = strcspn(line, "\n");
		_cleanup_(freep) char *name = strndup(line, length);

		json_append_string(names, name);
		line += length + (line[length] == '\n');
	}
}

static void add_change(struct json_object *object, const struct diff *diff)
{
	uint64_t before = diff_rss(diff->before), after = diff_rss(diff->after);

	json_add_u64(object, "before_rss_bytes", before);
	json_add_u64(object, "after_rss_bytes", after);
	json_add_i64(object, "rss_delta_bytes", (int64_t)(after - before));
	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		int part = fields[f].part;

		json_add_i64(object, fields[f].delta,
			     (int64_t)(diff->after[part] - diff->before[part]));
	}
}

static void add_heap(struct json_object *object, const struct diff *diff)
{
	const struct diff_heap *before = &diff->heap_before, *after = &diff->heap_after;
	double error = sqrt(before->variance + after->variance);

	json_add_i64(object, "asked_delta_bytes", (int64_t)(after->asked - before->asked));
	json_add_u64(object, "asked_delta_error_bytes",
		     error < 1e18 ? (uint64_t)error : (uint64_t)1e18);
	json_add_i64(object, "wasted_delta_bytes", (int64_t)(after->wasted - before->wasted));
	json_add_i64(object, "objects_delta", (int64_t)(after->objects - before->objects));
}

static void add_growth(struct json_object *object, const struct diff *diff,
		       const struct growth *growth)
{
	uint64_t before = diff_held(diff->before), after = diff_held(diff->after);

	json_add_u64(object, "first_bytes", before);
	json_add_u64(object, "last_bytes", after);
	json_add_u64(object, "growth_bytes", after - before);
	json_add_u64(object, "growth_bytes_per_hour", per_hour(diff, growth->span));
	json_add_u64(object, "steps", growth->steps);
	json_add_u64(object, "steps_grown", diff->grew);
}

int diff_json(const struct fmt *fmt, const struct diffs *diffs)
{
	struct json_list list = {.fmt = fmt};

	for (size_t i = 0; i < count(diffs); i++) {
		const struct diff *diff = diffs->diffs[i];
		struct json_object *object = json_object_new_object();

		json_add_string(object, "comm", diff->comm);
		json_add_string(object, "tag", diff->tag);
		if (diff->stack)
			add_stack(object, diff);
		if (diffs->growth)
			add_growth(object, diff, diffs->growth);
		else
			add_change(object, diff);
		if (diff_has_heap(diff))
			add_heap(object, diff);
		if (diff_has_heap(diff) && diffs->growth)
			json_add_string(object, "what", what_grew(diff));
		if (json_list_add(&list, object))
			return -ENOMEM;
	}
	json_list_end(&list);
	return 0;
}
