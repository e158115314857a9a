// SPDX-License-Identifier: GPL-2.0
/* mtagctl diff: what changed between two samples, or only grew over a series of them. */
#include <errno.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/diff.h"
#include "offline/compare.h"
#include "offline/read.h"
#include "option.h"

#define GROWTH_LEAST 3	/* samples; in fewer nothing can grow twice */
#define TABLE_MOST   10 /* stacks in a table, unless -n says otherwise */

enum { STACKS = 1000 };

struct request {
	bool growth;
	bool stacks;
	unsigned long most; /* 0: all */
};

struct times {
	uint64_t first, last;
};

static int add_to(struct series *series, const char *path, const struct snap *snap)
{
	int err = series_add(series, snap);

	if (err == -ENODATA)
		fail_print("%s: sample %lu of those compared has no stacks; `mtagctl snapshot "
			   "--stacks` saves them",
			   path, series->samples + 1);
	else if (err == -EDOM)
		fail_print("%s: stacks of `%s` were sampled at different rates (`--stacks` and "
			   "`--stacks=1/N`), which cannot be compared",
			   path, series->odd);
	else if (err != -E2BIG)
		return err ? fail_memory() : CTL_OK;
	else
		fail_print(
			"%s: the samples up to here have more names of tags than %d MiB can hold",
			path, SERIES_MOST >> 20);
	return CTL_REFUSED;
}

/* Adds a sample, which must not be older than those before. */
static int add(struct series *series, struct times *times, const char *path,
	       const struct origin *origin, const struct snap *snap)
{
	if (series->samples && origin->time_ms < times->last) {
		fail_print("a sample of %s is older than the one before it; "
			   "name the oldest file first",
			   path);
		return CTL_REFUSED;
	}
	if (!series->samples)
		times->first = origin->time_ms;
	times->last = origin->time_ms;
	return add_to(series, path, snap);
}

/* Adds all samples of a file. */
static int add_file(struct series *series, struct times *times, const char *path)
{
	_cleanup_(reader_closep) struct reader *reader = NULL;
	int status = reader_open(&reader, path);

	while (!status) {
		_cleanup_(snap_clear) struct snap snap = {0};
		struct origin origin;
		enum reading found = reader_next(reader, &origin, &snap);

		if (found != READ_SAMPLE)
			return found == READ_END ? CTL_OK : CTL_REFUSED;
		status = add(series, times, path, &origin, &snap);
	}
	return status;
}

static int diff_files(struct series *series, char **paths)
{
	int status = CTL_OK;

	for (int i = 0; i < 2 && !status; i++) {
		_cleanup_(snap_clear) struct snap snap = {0};
		struct origin origin;

		status = read_sample(paths[i], 0, &origin, &snap);
		if (!status)
			status = add_to(series, paths[i], &snap);
	}
	series_keep_changed(series);
	return status;
}

static int grow_files(struct series *series, struct times *times, int n, char **paths)
{
	int status = CTL_OK;

	for (int i = 0; i < n && !status; i++)
		status = add_file(series, times, paths[i]);
	if (!status && series->samples < GROWTH_LEAST) {
		fail_print("diff --growth needs at least %d samples; the files have %lu",
			   GROWTH_LEAST, series->samples);
		status = CTL_REFUSED;
	}
	series_keep_grown(series);
	return status;
}

static int print(struct ctl *ctl, const struct diffs *diffs)
{
	struct fmt fmt;
	int err = 0;

	fmt_init(&fmt, ctl);
	if (ctl->json)
		err = diff_json(&fmt, diffs);
	else
		diff_text(&fmt, diffs);
	return err ? fail_memory() : CTL_OK;
}

static int read_options(struct ctl *ctl, int argc, char **argv, struct request *request)
{
	static const struct option longs[] = {
		{"growth", no_argument, NULL, 'g'},
		{"stacks", no_argument, NULL, STACKS},
		{"count", required_argument, NULL, 'n'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":gn:" OPTION_SHORTS, longs)) >= 0) {
		request->growth |= opt == 'g';
		request->stacks |= opt == STACKS;
		if (opt == 'n' && !option_count("diff", optarg, "lines", &request->most))
			return OPTION_BAD;
	}
	if (opt != OPTION_DONE)
		return opt;
	argc -= optind;
	if (request->growth ? argc : argc == 2)
		return option_one_input("diff", argc, argv + optind, NULL) ? opt : OPTION_BAD;
	fail_print(request->growth ? "diff --growth needs at least one snapshot file"
				   : "diff takes two snapshot files");
	return OPTION_BAD;
}

int cmd_diff(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(series_clear) struct series series = {0};
	struct request request = {0};
	struct times times = {0};
	struct diffs diffs;
	struct growth steps;
	int status, opt = read_options(ctl, argc, argv, &request);

	if (opt != OPTION_DONE)
		return option_status(opt);
	series.by_stack = request.stacks;
	status = request.growth ? grow_files(&series, &times, argc - optind, argv + optind)
				: diff_files(&series, argv + optind);
	if (status)
		return status;
	if (request.stacks && !request.most && !ctl->json)
		request.most = TABLE_MOST;
	steps = (struct growth){series.samples - 1, times.last - times.first};
	diffs = (struct diffs){series.diffs, series.n, request.most,
			       request.growth ? &steps : NULL};
	return print(ctl, &diffs);
}
