// SPDX-License-Identifier: GPL-2.0
/* mtagctl top: all processes and tags, live on a terminal, in batches elsewhere. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "clock.h"
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "offline/source.h"
#include "option.h"
#include "parse.h"
#include "top/batch.h"
#include "top/live.h"
#include "top/screen.h"

struct top {
	struct source source;
	struct view view;
	unsigned long count; /* 0: not given */
	bool timed;	     /* a delay or a count was given */
};

static bool take_option(struct top *top, int opt, const char *value)
{
	struct view *view = &top->view;

	switch (opt) {
	case 'd':
		top->timed = true;
		if (!parse_seconds(value, &view->delay))
			return true;
		fail_print("top: invalid delay '%s' (" PARSE_SECONDS ")", value);
		return false;
	case 'n':
		top->timed = true;
		return option_count("top", value, "refreshes", &top->count);
	case 's':
		view->sort = rows_find_sort(value);
		if (view->sort < SORT_N)
			return true;
		fail_print("top: no column '%s' (%s)", value, rows_sort_names);
		return false;
	case 'b':
		view->by = rows_find_by(value);
		if (view->by < BY_N)
			return true;
		fail_print("top: cannot group by '%s' (process, tag or cgroup)", value);
		return false;
	default:
		return source_option(&top->source, opt, value);
	}
}

static int top_options(struct ctl *ctl, int argc, char **argv, struct top *top)
{
	static const struct option longs[] = {
		{"delay", required_argument, NULL, 'd'},
		{"count", required_argument, NULL, 'n'},
		{"sort", required_argument, NULL, 's'},
		{"by", required_argument, NULL, 'b'},
		SOURCE_LONGS,
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":d:n:s:b:f:jph", longs)) >= 0)
		if (!take_option(top, opt, optarg))
			return OPTION_BAD;
	if (opt != OPTION_DONE)
		return opt;
	if (argc > optind) {
		fail_print("top takes no arguments; on a terminal, / is a filter");
		return OPTION_BAD;
	}
	if (ctl->stats && (!ctl->json || top->view.by != BY_PROCESS)) {
		fail_print("top: --statistics is for the format json, by process");
		return OPTION_BAD;
	}
	if (top->source.from && top->timed) {
		fail_print("top: -d and -n are for live data; --from prints one sample");
		return OPTION_BAD;
	}
	if (top->source.sample && !top->source.from) {
		fail_print("top: --sample chooses a sample of a file; --from names the file");
		return OPTION_BAD;
	}
	return opt;
}

/* ---- batches ---- */

static int print_batch(const struct ctl *ctl, const struct top *top, const struct fmt *fmt,
		       struct feed *feed)
{
	int err;

	err = rows_list(&feed->rows, top->view.sort, false);
	if (err)
		return err;
	if (ctl->json)
		return batch_json(fmt, &feed->rows, feed->now.ms);
	if (feed->refreshes > 1)
		fputc('\n', fmt->out);
	batch_text(fmt, &feed->rows);
	fflush(fmt->out);
	return 0;
}

static int print_file(const struct ctl *ctl, struct top *top, const struct fmt *fmt,
		      struct feed *feed)
{
	const struct choice choice = view_choice(&top->view);
	int status = source_read(&top->source, NULL, 0, &feed->now.snap);
	size_t row = 0;

	if (status)
		return status;
	/* Those of the file, if it has them; the process ids may be others' by now. */
	feed->now.grouped = true;
	feed->now.ms = feed->now.snap.time_ms;
	if (feed_rebuild(feed, &choice, &row) || print_batch(ctl, top, fmt, feed))
		return fail_memory();
	return CTL_OK;
}

static int print_batches(const struct ctl *ctl, const struct top *top, const struct fmt *fmt,
			 struct feed *feed, unsigned long count)
{
	const struct choice choice = view_choice(&top->view);
	size_t row = 0;

	for (;;) {
		unsigned long missed = feed->missed;
		int err = feed_refresh(feed, &choice, &row);
		uint64_t next = feed->now.ns + top->view.delay, now;

		if (!err)
			err = print_batch(ctl, top, fmt, feed);
		if (err)
			return live_fail(feed, err);
		if (feed->missed > missed)
			fail_incomplete();
		if (feed->refreshes == count || ferror(fmt->out))
			return CTL_OK;
		while ((now = clock_ns(CLOCK_MONOTONIC)) < next) {
			const struct timespec left = {(time_t)((next - now) / NSEC_PER_SEC),
						      (long)((next - now) % NSEC_PER_SEC)};

			ppoll(NULL, 0, &left, NULL);
		}
	}
}

static int run(const struct ctl *ctl, struct top *top, struct feed *feed)
{
	bool live = screen_is_possible();
	unsigned long count;
	struct fmt fmt;
	int err;

	fmt_init(&fmt, ctl);
	/* A batch has all that there is. */
	if (!live || ctl->json || top->source.from) {
		top->view.empty = true;
		top->view.all_open = true;
	}
	if (top->source.from)
		return print_file(ctl, top, &fmt, feed);
	err = kern_open(&feed->kern);
	if (err)
		return fail_open(err);
	if (live && !ctl->json)
		return live_run(feed, &top->view, &fmt, top->count);
	if (fmt.terminal && !ctl->json)
		fail_print("cannot draw on this terminal (TERM, or no keyboard); "
			   "printing batches");
	count = batch_count(&fmt, ctl->json, top->count);
	return print_batches(ctl, top, &fmt, feed, count);
}

int cmd_top(struct ctl *ctl, int argc, char **argv)
{
	struct top top = {.view = {.by = BY_PROCESS, .sort = SORT_RSS, .delay = NSEC_PER_SEC}};
	struct feed feed = {0};
	int status, opt = top_options(ctl, argc, argv, &top);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = run(ctl, &top, &feed);
	feed_clear(&feed);
	return status;
}
