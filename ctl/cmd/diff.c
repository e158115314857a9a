// SPDX-License-Identifier: GPL-2.0
/* mtagctl diff: what changed between two samples of one or two files, or only grew over a series of them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/diff.h"
#include "offline/compare.h"
#include "offline/read.h"
#include "option.h"

#define GROWTH_LEAST 3	/* samples; in fewer nothing can grow twice */
#define TABLE_MOST   10 /* stacks in a table, unless -n says otherwise */

enum { STACKS = 1000, SINCE };

struct request {
	bool growth;
	bool stacks;
	unsigned long since; /* seconds before the last sample; 0: two files are compared */
	unsigned long most;  /* 0: all */
};

/* When the samples read so far were taken; all 0 before the first. */
struct times {
	unsigned long samples;
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

/* Reads the next sample of a series, which must not be older than those before. */
static enum reading next(struct reader *reader, struct times *times, const char *path,
			 struct origin *origin, struct snap *snap)
{
	enum reading found = reader_next(reader, origin, snap);

	if (found != READ_SAMPLE)
		return found;
	if (times->samples && origin->time_ms < times->last) {
		fail_print("a sample of %s is older than the one before it; "
			   "name the oldest file first",
			   path);
		return READ_FAILED;
	}
	if (!times->samples++)
		times->first = origin->time_ms;
	times->last = origin->time_ms;
	return found;
}

/* Adds all samples of a file. */
static int add_file(struct series *series, struct times *times, const char *path)
{
	_cleanup_(reader_closep) struct reader *reader = NULL;
	int status = reader_open(&reader, path);

	while (!status) {
		_cleanup_(snap_clear) struct snap snap = {0};
		struct origin origin;
		enum reading found = next(reader, times, path, &origin, &snap);

		if (found != READ_SAMPLE)
			return found == READ_END ? CTL_OK : CTL_REFUSED;
		status = add_to(series, path, &snap);
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

/* Moves to @before the last sample of a file that is no younger than @time_ms, if there is one. */
static int find_before(const char *path, uint64_t time_ms, struct snap *before, struct times *times)
{
	_cleanup_(reader_closep) struct reader *reader = NULL;
	int status = reader_open(&reader, path);

	while (!status) {
		_cleanup_(snap_clear) struct snap snap = {0};
		struct origin origin;
		enum reading found = next(reader, times, path, &origin, &snap);

		if (found != READ_SAMPLE)
			return found == READ_END ? CTL_OK : CTL_REFUSED;
		if (origin.time_ms <= time_ms) {
			struct snap old = *before;

			*before = snap;
			snap = old;
		}
	}
	return status;
}

/* Adds the last sample of the last file, and the one that was taken so many seconds before. */
static int diff_since(struct series *series, unsigned long since, int n, char **paths)
{
	_cleanup_(snap_clear) struct snap before = {0}, last = {0};
	struct times times = {0};
	struct origin origin;
	uint64_t time_ms, oldest;
	int status = read_sample(paths[n - 1], 0, &origin, &last);

	if (status)
		return status;
	time_ms = since < origin.time_ms / 1000 ? origin.time_ms - since * 1000 : 0;
	for (int i = 0; i < n && !status; i++)
		status = find_before(paths[i], time_ms, &before, &times);
	/* Whoever rotates the files meanwhile may leave only samples that are younger, or none. */
	oldest = times.samples && times.first < origin.time_ms ? times.first : origin.time_ms;
	if (!status && oldest > time_ms) {
		fail_print("%s: no sample is %lu s older than the last; the oldest is %" PRIu64
			   " s older",
			   paths[n - 1], since, (origin.time_ms - oldest) / 1000);
		status = CTL_REFUSED;
	}
	status = status ? status : add_to(series, paths[0], &before);
	status = status ? status : add_to(series, paths[n - 1], &last);
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

/* What is read twice cannot be standard input. */
static bool no_input(int n, char **paths)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(paths[i], "-"))
			continue;
		fail_print("diff --since reads its files twice, which standard input cannot be");
		return false;
	}
	return true;
}

/* Are these the files that such a request takes? */
static bool take_files(const struct request *request, int n, char **paths)
{
	if (request->growth && request->since)
		fail_print(
			"diff: --since compares two samples, --growth all of a series: give one of them");
	else if (request->growth && !n)
		fail_print("diff --growth needs at least one snapshot file");
	else if (request->since && !n)
		fail_print("diff --since needs at least one snapshot file");
	else if (request->growth || (!request->since && n == 2))
		return option_one_input("diff", n, paths, NULL);
	else if (!request->since)
		fail_print("diff takes two snapshot files; or --since SEC and one");
	else
		return no_input(n, paths);
	return false;
}

static int read_options(struct ctl *ctl, int argc, char **argv, struct request *request)
{
	static const struct option longs[] = {
		{"growth", no_argument, NULL, 'g'},
		{"stacks", no_argument, NULL, STACKS},
		{"since", required_argument, NULL, SINCE},
		{"count", required_argument, NULL, 'n'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":gn:" OPTION_SHORTS, longs)) >= 0) {
		request->growth |= opt == 'g';
		request->stacks |= opt == STACKS;
		if (opt == 'n' && !option_count("diff", optarg, "lines", &request->most))
			return OPTION_BAD;
		if (opt == SINCE && !option_count("diff", optarg, "seconds", &request->since))
			return OPTION_BAD;
	}
	if (opt != OPTION_DONE)
		return opt;
	return take_files(request, argc - optind, argv + optind) ? opt : OPTION_BAD;
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
	argc -= optind;
	argv += optind;
	if (request.growth)
		status = grow_files(&series, &times, argc, argv);
	else if (request.since)
		status = diff_since(&series, request.since, argc, argv);
	else
		status = diff_files(&series, argv);
	if (status)
		return status;
	if (request.stacks && !request.most && !ctl->json)
		request.most = TABLE_MOST;
	steps = (struct growth){series.samples - 1, times.last - times.first};
	diffs = (struct diffs){series.diffs, series.n, request.most,
			       request.growth ? &steps : NULL};
	return print(ctl, &diffs);
}
