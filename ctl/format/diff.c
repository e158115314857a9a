// SPDX-License-Identifier: GPL-2.0
/* What diff prints: tags, or stacks, of two samples side by side, or those that only grew over a series. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl.h"
#include "format/diff.h"
#include "format/json.h"
#include "format/text.h"

#define COMM_WIDTH  16
#define INDENT	    4
#define STEPS_WIDTH 10
#define TAG_MIN	    12

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

static unsigned int tag_width(const struct fmt *fmt, unsigned int others)
{
	return fmt->width < others + TAG_MIN ? TAG_MIN : fmt->width - others;
}

static void print_names(const struct fmt *fmt, const char *comm, const char *tag,
			unsigned int width)
{
	text_cell(fmt, comm, COMM_WIDTH - 1, CUT_END);
	fputc(' ', fmt->out);
	text_cell(fmt, *tag ? tag : "[untagged]", width, CUT_BEGINNING);
}

static void print_row(const struct fmt *fmt, const uint64_t *before, const uint64_t *after)
{
	char buf[16];

	text_right(fmt, COL_SIZE, text_size(buf, diff_rss(before)));
	text_right(fmt, COL_SIZE, text_size(buf, diff_rss(after)));
	text_right(fmt, COL_DELTA, text_delta(buf, diff_rss(after), diff_rss(before)));
	text_right(fmt, COL_DELTA, text_delta(buf, after[DIFF_SWAP], before[DIFF_SWAP]));
	fputc('\n', fmt->out);
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

static void add_to(uint64_t sum[DIFF_NR], const uint64_t *values)
{
	for (size_t part = 0; part < DIFF_NR; part++)
		sum[part] += values[part];
}

static void print_more(const struct fmt *fmt, const struct diffs *diffs)
{
	if (count(diffs) < diffs->n)
		fprintf(fmt->out, "%zu more (-n)\n", diffs->n - count(diffs));
}

static void print_changes(const struct fmt *fmt, const struct diffs *diffs)
{
	unsigned int width = tag_width(fmt, COMM_WIDTH + 2 * COL_SIZE + 2 * COL_DELTA);
	uint64_t before[DIFF_NR] = {0}, after[DIFF_NR] = {0};

	print_names(fmt, "COMM", "TAG", width);
	text_right(fmt, COL_SIZE, "BEFORE");
	text_right(fmt, COL_SIZE, "AFTER");
	text_right(fmt, COL_DELTA, "CHANGE");
	text_right(fmt, COL_DELTA, "SWAP");
	fputc('\n', fmt->out);
	for (size_t i = 0; i < diffs->n; i++) {
		const struct diff *diff = &diffs->diffs[i];

		add_to(before, diff->before);
		add_to(after, diff->after);
		if (i >= count(diffs))
			continue;
		print_names(fmt, diff->comm, diff->tag, width);
		print_row(fmt, diff->before, diff->after);
		print_stack(fmt, diff);
	}
	print_more(fmt, diffs);
	print_names(fmt, "total", " ", width);
	print_row(fmt, before, after);
}

static uint64_t per_hour(const struct diff *diff, uint64_t span)
{
	double bytes = (double)(diff_held(diff->after) - diff_held(diff->before));
	double rate = span ? bytes * 3600e3 / (double)span : 0;

	return rate < 1e18 ? (uint64_t)rate : (uint64_t)1e18;
}

static void print_growth(const struct fmt *fmt, const struct diffs *diffs)
{
	const struct growth *growth = diffs->growth;
	unsigned int width = tag_width(fmt, COMM_WIDTH + 3 * COL_SIZE + COL_DELTA + STEPS_WIDTH);

	print_names(fmt, "COMM", "TAG", width);
	text_right(fmt, COL_SIZE, "FIRST");
	text_right(fmt, COL_SIZE, "LAST");
	text_right(fmt, COL_DELTA, "CHANGE");
	text_right(fmt, COL_SIZE, "AN HOUR");
	text_right(fmt, STEPS_WIDTH, "GREW");
	fputc('\n', fmt->out);
	for (size_t i = 0; i < count(diffs); i++) {
		const struct diff *diff = &diffs->diffs[i];
		uint64_t before = diff_held(diff->before), after = diff_held(diff->after);
		char buf[48];

		print_names(fmt, diff->comm, diff->tag, width);
		text_right(fmt, COL_SIZE, text_size(buf, before));
		text_right(fmt, COL_SIZE, text_size(buf, after));
		text_right(fmt, COL_DELTA, text_delta(buf, after, before));
		text_right(fmt, COL_SIZE, text_size(buf, per_hour(diff, growth->span)));
		snprintf(buf, sizeof(buf), " %lu/%lu", diff->grew, growth->steps);
		text_right(fmt, STEPS_WIDTH, buf);
		fputc('\n', fmt->out);
		print_stack(fmt, diff);
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
		const struct diff *diff = &diffs->diffs[i];
		struct json_object *object = json_object_new_object();

		json_add_string(object, "comm", diff->comm);
		json_add_string(object, "tag", diff->tag);
		if (diff->stack)
			add_stack(object, diff);
		if (diffs->growth)
			add_growth(object, diff, diffs->growth);
		else
			add_change(object, diff);
		if (json_list_add(&list, object))
			return -ENOMEM;
	}
	json_list_end(&list);
	return 0;
}
