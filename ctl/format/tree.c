// SPDX-License-Identifier: GPL-2.0
/* What tree prints: the tags of a process below each other, with sums. */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "format/text.h"
#include "format/tree.h"
#include "utf8.h"

#define PERCENT_WIDTH 7
#define NUMBERS_WIDTH (2 * (COL_SIZE + PERCENT_WIDTH))
#define SHARES_WIDTH  (2 * COL_SIZE)
#define STEP_WIDTH    3
#define MARK_WIDTH    4
#define NAME_MIN      12 /* columns that the branches leave for the name */

struct lines {
	const char *tee, *corner, *bar, *blank, *mark;
};

static const struct lines drawn = {"├─ ", "└─ ", "│  ", "   ", "…"};
static const struct lines ascii = {"|- ", "`- ", "|  ", "   ", "~"};

/*
 * The shown tags in printing order, and whether a sibling follows each. The last sibling may be a
 * [ksm] that is not shown, hence the second pass from the end.
 */
struct plan {
	size_t *order;
	bool *more;
	size_t n;
};

static void plan_clear(struct plan *plan)
{
	free(plan->order);
	free(plan->more);
}

/* [untagged] has depth 0, but is printed beside the top-level tags. */
static unsigned int depth_of(const struct tag *tag)
{
	return tag->depth ? tag->depth : 1;
}

static int make_plan(const struct proc *proc, struct plan *plan)
{
	bool seen[MTAG_DEPTH_MAX + 2] = {false};
	size_t n = proc->n_tags;

	plan->order = calloc(n + 1, sizeof(*plan->order));
	plan->more = calloc(n + 1, sizeof(*plan->more));
	if (!plan->order || !plan->more || proc_order_by_size(proc, plan->order))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (tag_is_shown(&proc->tags[plan->order[i]]))
			plan->order[plan->n++] = plan->order[i];
	for (size_t i = plan->n; i-- > 0;) {
		unsigned int depth = depth_of(&proc->tags[plan->order[i]]);

		plan->more[i] = seen[depth];
		seen[depth] = true;
		memset(&seen[depth + 1], 0, sizeof(seen) - (depth + 1) * sizeof(*seen));
	}
	return 0;
}

/* @s: NULL if the shares are not known. */
static void print_numbers(const struct fmt *fmt, uint64_t self, uint64_t total, uint64_t all,
			  const uint64_t *s)
{
	char buf[16];

	text_right(fmt, COL_SIZE, text_size(buf, self));
	text_right(fmt, PERCENT_WIDTH, text_percent(buf, self, all));
	text_right(fmt, COL_SIZE, text_size(buf, total));
	text_right(fmt, PERCENT_WIDTH, text_percent(buf, total, all));
	if (s) {
		text_right(fmt, COL_SIZE, text_size(buf, s[MTAG_S_USS]));
		text_right(fmt, COL_SIZE, text_size(buf, s[MTAG_S_PSS]));
	}
	fputc('\n', fmt->out);
}

/*
 * Prints the branches before a tag, and returns their columns. Below the last level that is drawn there
 * is no room for more: all tags stand in one column, and each has its depth, since without it a child
 * would look like a sibling.
 */
static unsigned int print_branch(const struct fmt *fmt, const struct tag *tag, const bool *open,
				 unsigned int levels)
{
	const struct lines *lines = fmt->utf8 ? &drawn : &ascii;
	unsigned int depth = depth_of(tag);
	unsigned int bars = depth <= levels ? depth - 1 : levels;

	for (unsigned int d = 1; d <= bars; d++)
		fputs(open[d] ? lines->bar : lines->blank, fmt->out);
	if (depth > levels) {
		fprintf(fmt->out, "%s%-3u", lines->mark, depth);
		return bars * STEP_WIDTH + MARK_WIDTH;
	}
	fputs(open[depth] ? lines->tee : lines->corner, fmt->out);
	return depth * STEP_WIDTH;
}

/* The levels that are drawn with a branch of their own, which is all of them if there is room. */
static unsigned int levels_drawn(const struct proc *proc, unsigned int width)
{
	unsigned int fit = (width - NAME_MIN) / STEP_WIDTH, deepest = 1;

	for (size_t i = 0; i < proc->n_tags; i++)
		if (tag_is_shown(&proc->tags[i]) && proc->tags[i].depth > deepest)
			deepest = proc->tags[i].depth;
	/* The mark below them takes the place of the last. */
	return deepest > fit && fit > 1 ? fit - 1 : fit;
}

static unsigned int names_width(const struct fmt *fmt, const struct proc *proc)
{
	unsigned int numbers = NUMBERS_WIDTH + (proc->shares ? SHARES_WIDTH : 0);
	unsigned int most = fmt->width - numbers, width = 16;

	if (fmt->width < numbers + width)
		return width;
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[i];
		_cleanup_(freep) char *name = utf8_clean(tag->name, fmt->utf8);
		unsigned int have = name ? utf8_width(name) : 0;
		unsigned int w = depth_of(tag) * STEP_WIDTH + (have < NAME_MIN ? NAME_MIN : have);

		if (w > width && tag_is_shown(tag))
			width = w;
	}
	return width < most ? width : most;
}

int tree_text(const struct fmt *fmt, const struct proc *proc)
{
	_cleanup_(plan_clear) struct plan plan = {0};
	bool open[MTAG_DEPTH_MAX + 2] = {false};
	unsigned int width = names_width(fmt, proc), levels = levels_drawn(proc, width);

	if (make_plan(proc, &plan))
		return -ENOMEM;
	label_proc(fmt, proc, "\n");
	text_cell(fmt, "TAG", width, CUT_END);
	text_right(fmt, COL_SIZE, "SELF");
	text_right(fmt, PERCENT_WIDTH, "%");
	text_right(fmt, COL_SIZE, "TOTAL");
	text_right(fmt, PERCENT_WIDTH, "%");
	if (proc->shares) {
		text_right(fmt, COL_SIZE, "USS");
		text_right(fmt, COL_SIZE, "PSS");
	}
	fputc('\n', fmt->out);
	for (size_t i = 0; i < plan.n; i++) {
		const struct tag *tag = &proc->tags[plan.order[i]];
		unsigned int used;

		open[depth_of(tag)] = plan.more[i];
		used = print_branch(fmt, tag, open, levels);
		text_cell(fmt, tag->depth ? tag->name : label_of(tag), width - used, CUT_END);
		print_numbers(fmt, tag_rss(tag), tag->total_rss, proc->rss,
			      proc->shares ? tag->s : NULL);
	}
	text_cell(fmt, "total", width, CUT_END);
	print_numbers(fmt, proc->rss, proc->rss, proc->rss, proc->shares ? proc->s : NULL);
	return 0;
}

int tree_json(const struct fmt *fmt, const struct proc *proc)
{
	_cleanup_(json_putp) struct json_object *array = json_object_new_array();
	_cleanup_(plan_clear) struct plan plan = {0};

	if (!array || make_plan(proc, &plan))
		return -ENOMEM;
	for (size_t i = 0; i < plan.n; i++) {
		const struct tag *tag = &proc->tags[plan.order[i]];
		struct json_object *object = json_add_object(array);

		label_json(object, proc, tag);
		json_add_u64(object, "depth", tag->depth);
		json_add_u64(object, "rss_bytes", tag_rss(tag));
		json_add_u64(object, "total_rss_bytes", tag->total_rss);
		if (!tag->shares)
			continue;
		json_add_u64(object, "uss_bytes", tag->s[MTAG_S_USS]);
		json_add_u64(object, "total_uss_bytes", tag->total_s[MTAG_S_USS]);
		json_add_u64(object, "pss_bytes", tag->s[MTAG_S_PSS]);
		json_add_u64(object, "total_pss_bytes", tag->total_s[MTAG_S_PSS]);
	}
	return json_print(fmt, array);
}
