// SPDX-License-Identifier: GPL-2.0
/* mtagctl snapshot: samples for later, into a file that other commands read with --from. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/snapshot.h"
#include "offline/source.h"
#include "offline/store.h"
#include "option.h"
#include "parse.h"
#include "stop.h"

#define KEEP_DEFAULT 4
#define KEEP_MOST    1000

enum { STACKS = SOURCE_PSS + 1 };

struct snapshot {
	struct store store;
	bool shares;	     /* with USS and PSS */
	bool stacks;	     /* with stacks */
	uint64_t interval;   /* nanoseconds, 0: not given */
	unsigned long count; /* 0: no end */
	pid_t *pids;
	size_t n_pids;
	sigset_t waiting;
	bool left; /* a sample lacked something */
};

static void tell_left(const struct snapshot_left *left)
{
	if (left->procs)
		fail_print(
			"a sample has at most %d tags, with %d MiB of names: this one lacks the %zu "
			"process%s that have most",
			SNAPSHOT_TAGS_MOST, SNAPSHOT_NAMES_MOST >> 20, left->procs,
			left->procs == 1 ? "" : "es");
	if (left->stacks)
		fail_print("a sample has at most %d MiB of stacks: this one lacks %" PRIu64,
			   SNAPSHOT_STACKS_MOST >> 20, left->stacks);
}

/* A process that cannot be read is reported; the sample has the others. */
static int take_sample(struct snapshot *s)
{
	struct snapshot_left left;
	struct source kernel = {
		.shares = s->shares, .stacks = s->stacks, .resident = s->stacks, .heaps = true};
	_cleanup_(snap_clear) struct snap snap = {0};
	_cleanup_(freep) char *text = NULL;
	size_t length = 0;
	FILE *out;
	int status, err;

	status = source_read(&kernel, s->pids, s->n_pids, &snap);
	if (status && !snap.n_procs)
		return status;
	out = open_memstream(&text, &length);
	if (!out)
		return fail_memory();
	err = snapshot_print(out, &kernel.origin, &snap, &left);
	if (fclose(out) || err)
		return fail_memory();
	tell_left(&left);
	s->left |= left.procs || left.stacks;
	err = store_append(&s->store, text, length);
	return err ? err : status;
}

/* Waits until @deadline. Returns false for a signal to stop. */
static bool wait_until(const struct snapshot *s, uint64_t deadline)
{
	uint64_t now;

	while (!stopped && (now = clock_ns(CLOCK_MONOTONIC)) < deadline) {
		struct timespec left = {
			.tv_sec = (time_t)((deadline - now) / NSEC_PER_SEC),
			.tv_nsec = (long)((deadline - now) % NSEC_PER_SEC),
		};

		ppoll(NULL, 0, &left, &s->waiting);
	}
	return !stopped;
}

static int take_series(struct snapshot *s)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC), now;
	int status;

	/* A sample is not interrupted. */
	if (stop_begin(&s->waiting, NULL))
		return fail_memory();
	for (unsigned long n = 1;; n++) {
		status = take_sample(s);
		if (status || n == s->count)
			return status;
		next += s->interval;
		now = clock_ns(CLOCK_MONOTONIC);
		if (next < now) /* too slow for this interval: do not catch up */
			next = now;
		if (!wait_until(s, next))
			return CTL_OK;
	}
}

static bool take_option(struct snapshot *s, int opt, const char *value)
{
	switch (opt) {
	case 'i':
		if (!parse_seconds(value, &s->interval))
			return true;
		fail_print("snapshot: invalid interval '%s' (" PARSE_SECONDS ")", value);
		return false;
	case 'n':
		return option_count("snapshot", value, "samples", &s->count);
	case 'm':
		return option_size("snapshot", value, &s->store.most);
	case 'k':
		if (!parse_count(value, &s->store.keep) && s->store.keep <= KEEP_MOST)
			return true;
		fail_print("snapshot: invalid number of files '%s' (1 to %d)", value, KEEP_MOST);
		return false;
	case SOURCE_PSS:
		s->shares = true;
		return true;
	case STACKS:
		s->stacks = true;
		return true;
	default:
		s->store.path = option_output(value);
		return true;
	}
}

static int snapshot_options(struct ctl *ctl, int argc, char **argv, struct snapshot *s)
{
	static const struct option longs[] = {
		{"interval", required_argument, NULL, 'i'},
		{"count", required_argument, NULL, 'n'},
		{"output", required_argument, NULL, 'o'},
		{"max-size", required_argument, NULL, 'm'},
		{"keep", required_argument, NULL, 'k'},
		SOURCE_LONG_PSS,
		{"stacks", no_argument, NULL, STACKS},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":i:n:o:m:k:" OPTION_SHORTS, longs)) >= 0)
		if (!take_option(s, opt, optarg))
			return OPTION_BAD;
	if (opt == OPTION_DONE && (s->store.most || s->store.keep) && !s->store.path) {
		fail_print("snapshot: a size and a number of files need a file: -o FILE");
		return OPTION_BAD;
	}
	if (opt == OPTION_DONE && s->store.keep && !s->store.most) {
		fail_print("snapshot: --keep needs --max-size (-m SIZE)");
		return OPTION_BAD;
	}
	if (!s->store.keep)
		s->store.keep = KEEP_DEFAULT;
	if (!s->interval && !s->count)
		s->count = 1;
	if (!s->interval)
		s->interval = NSEC_PER_SEC;
	return opt;
}

int cmd_snapshot(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(freep) pid_t *pids = NULL;
	struct snapshot s = {0};
	int status, opt = snapshot_options(ctl, argc, argv, &s);

	if (opt != OPTION_DONE)
		return option_status(opt);
	s.n_pids = (size_t)(argc - optind);
	status = option_pids((int)s.n_pids, argv + optind, &pids);
	if (!status)
		status = store_check(&s.store);
	if (status)
		return status;
	s.pids = pids;
	status = take_series(&s);
	return !status && s.left ? CTL_REFUSED : status;
}
