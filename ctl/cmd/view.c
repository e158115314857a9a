// SPDX-License-Identifier: GPL-2.0
/* Options, reading and printing of the commands that show processes and tags as they are now. */
#include <errno.h>

#include "cmd/shape.h"
#include "cmd/view.h"
#include "fail.h"
#include "option.h"
#include "output.h"
#include "picture/palette.h"
#include "picture/timeline.h"

/* Above those of source_option(). */
enum { BY_PID = 2000 };

static bool take_option(struct ctl *ctl, const char *command, int opt, struct view *view)
{
	if (opt == 'o')
		view->output = option_output(optarg);
	if (opt == BY_PID)
		view->by_pid = true;
	if (opt != 'f')
		return source_option(&view->source, opt, optarg);
	view->form = form_find(optarg);
	if (!view->form) {
		fail_print("%s: unknown format '%s' (%s)", command, optarg, form_names);
		return false;
	}
	/* Of -f and -j, the last one counts. */
	ctl->json = form_is_json(view->form);
	return true;
}

/* Returns false after an error message. */
static bool fits_form(const struct ctl *ctl, const char *command, const struct view *view)
{
	/* The JSON of tree has sums, not kinds. */
	if (ctl->stats && (!form_has_statistics(view->form) || (view->one && ctl->json))) {
		fail_print("%s: -s is for the format%s", command,
			   view->one ? " table" : "s table and json");
		return false;
	}
	if (view->by_pid && view->one) {
		fail_print("%s: --by-pid is for show; %s has one process", command, command);
		return false;
	}
	if (view->by_pid && !form_sums_processes(view->form)) {
		fail_print("%s: --by-pid is for -f openmetrics; the other formats show each "
			   "process anyway",
			   command);
		return false;
	}
	if (view->source.shares && !form_has_shares(view->form)) {
		fail_print("%s: --pss is for the formats table, tree and json", command);
		return false;
	}
	return shape_fits(command, form_is_binary(view->form), view->output);
}

int view_options(struct ctl *ctl, int argc, char **argv, const char *otherwise, struct view *view)
{
	static const struct option longs[] = {
		{"output", required_argument, NULL, 'o'},
		{"by-pid", no_argument, NULL, BY_PID},
		SOURCE_LONGS,
		SOURCE_LONG_PSS,
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":o:" OPTION_SHORTS, longs)) >= 0)
		if (!take_option(ctl, argv[0], opt, view))
			return OPTION_BAD;
	if (ctl->json || !view->form)
		view->form = form_find(ctl->json ? "json" : otherwise);
	return opt == OPTION_DONE && !fits_form(ctl, argv[0], view) ? OPTION_BAD : opt;
}

/* ---- a series of samples ---- */

struct series_of {
	const char *path;
	struct timeline *timeline;
};

static int add_sample(void *arg, const struct origin *origin, struct snap *snap)
{
	const struct series_of *series = arg;
	int err = timeline_add(series->timeline, origin->time_ms, snap);

	if (err != -EINVAL)
		return err ? fail_memory() : CTL_OK;
	fail_print("%s: sample %zu is older than the one before it; --sample shows one of them",
		   series->path, series->timeline->n_samples + 1);
	return CTL_REFUSED;
}

static int read_view(struct view *view, pid_t *pids, size_t n, struct timeline *timeline,
		     struct snap *snap)
{
	struct series_of series = {view->source.from, timeline};
	const struct taker taker = {add_sample, &series};
	int status;

	if (!form_takes_series(view->form))
		return source_read(&view->source, pids, n, snap);
	status = source_read_series(&view->source, pids, n, &taker, snap);
	if (view->source.read && timeline_rank(timeline, HUES))
		return fail_memory();
	return status;
}

int view_print(const struct ctl *ctl, struct view *view, pid_t *pids, size_t n,
	       int (*json)(const struct fmt *fmt, const struct snap *snap))
{
	_cleanup_(snap_clear) struct snap snap = {0};
	_cleanup_(timeline_clear) struct timeline timeline = {0};
	int status = read_view(view, pids, n, &timeline, &snap), err;
	const struct subject subject = {&snap, &view->source.origin, &timeline};
	struct outfile output;
	struct fmt fmt;

	/* Nothing is known: a file stays as it was. */
	if (!view->source.read || (view->one && !snap.n_procs)) {
		if (view->source.read && !status) {
			fail_print("no process %d in the last sample", (int)*pids);
			status = CTL_REFUSED;
		}
		return status;
	}
	/* Nor is a file replaced by nothing after an error. */
	if (status && !snap.n_procs && view->output)
		return status;
	/* To a database of metrics, nothing is an answer too. */
	if (!status && !ctl->json && !snap.n_procs && !form_sums_processes(view->form))
		fail_print(view->source.from ? "the sample has no process"
					     : "no tracked process is visible to you");
	/* What could not be read was reported; what could be is printed nevertheless. */
	err = output_open(&output, view->output, 0666);
	if (err)
		return err;
	fmt_init(&fmt, ctl);
	fmt.by_pid = view->by_pid;
	fmt_redirect(&fmt, output.file);
	err = ctl->json && json ? json(&fmt, &snap) : form_print(view->form, &fmt, &subject);
	err = output_close(&output, err ? fail_memory() : CTL_OK);
	return status ? status : err;
}
