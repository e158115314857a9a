// SPDX-License-Identifier: GPL-2.0
/* What diff prints: tags of two samples side by side, or those that only grew over a series. */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/diff.h"
#include "format/json.h"
#include "format/text.h"

#define COMM_WIDTH  16
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

static void print_changes(const struct fmt *fmt, const struct diff *diffs, size_t n)
{
	unsigned int width = tag_width(fmt, COMM_WIDTH + 2 * COL_SIZE + 2 * COL_DELTA);
	uint64_t before[DIFF_NR] = {0}, after[DIFF_NR] = {0};

	print_names(fmt, "COMM", "TAG", width);
	text_right(fmt, COL_SIZE, "BEFORE");
	text_right(fmt, COL_SIZE, "AFTER");
	text_right(fmt, COL_DELTA, "CHANGE");
	text_right(fmt, COL_DELTA, "SWAP");
	fputc('\n', fmt->out);
	for (size_t i = 0; i < n; i++) {
		print_names(fmt, diffs[i].comm, diffs[i].tag, width);
		print_row(fmt, diffs[i].before, diffs[i].after);
		for (size_t part = 0; part < DIFF_NR; part++) {
			before[part] += diffs[i].before[part];
			after[part] += diffs[i].after[part];
		}
	}
	print_names(fmt, "total", " ", width);
	print_row(fmt, before, after);
}

static uint64_t per_hour(const struct diff *diff, uint64_t span)
{
	double bytes = (double)(diff_held(diff->after) - diff_held(diff->before));
	double rate = span ? bytes * 3600e3 / (double)span : 0;

	return rate < 1e18 ? (uint64_t)rate : (uint64_t)1e18;
}

static void print_growth(const struct fmt *fmt, const struct diff *diffs, size_t n,
			 const struct growth *growth)
{
	unsigned int width = tag_width(fmt, COMM_WIDTH + 3 * COL_SIZE + COL_DELTA + STEPS_WIDTH);

	print_names(fmt, "COMM", "TAG", width);
	text_right(fmt, COL_SIZE, "FIRST");
	text_right(fmt, COL_SIZE, "LAST");
	text_right(fmt, COL_DELTA, "CHANGE");
	text_right(fmt, COL_SIZE, "AN HOUR");
	text_right(fmt, STEPS_WIDTH, "GREW");
	fputc('\n', fmt->out);
	for (size_t i = 0; i < n; i++) {
		const struct diff *diff = &diffs[i];
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
	}
}

void diff_text(const struct fmt *fmt, const struct diff *diffs, size_t n,
	       const struct growth *growth)
{
	if (growth)
		print_growth(fmt, diffs, n, growth);
	else
		print_changes(fmt, diffs, n);
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

int diff_json(const struct fmt *fmt, const struct diff *diffs, size_t n,
	      const struct growth *growth)
{
	struct json_list list = {.fmt = fmt};

	for (size_t i = 0; i < n; i++) {
		struct json_object *object = json_object_new_object();

		json_add_string(object, "comm", diffs[i].comm);
		json_add_string(object, "tag", diffs[i].tag);
		if (growth)
			add_growth(object, &diffs[i], growth);
		else
			add_change(object, &diffs[i]);
		if (json_list_add(&list, object))
			return -ENOMEM;
	}
	json_list_end(&list);
	return 0;
}
