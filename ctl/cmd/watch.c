// SPDX-License-Identifier: GPL-2.0
/* mtagctl watch: the tags of one process, repeatedly. */
#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "clock.h"
#include "cmd/cmd.h"
#include "cmd/play.h"
#include "ctl.h"
#include "fail.h"
#include "format/watch.h"
#include "heaps/carry.h"
#include "heaps/load.h"
#include "kern.h"
#include "option.h"
#include "parse.h"
#include "stop.h"

#define OPTION_FROM 1000 /* none of getopt's letters */

#define WALK_SHARE  50 /* of so much of the time, one part goes into the pages of a heap */

/* A line is cleared before it is written: behind a full one, the cursor is on its last column. */
#define CLEAR_SCREEN "\033[H\033[2J"
#define HOME	     "\033[H\033[K"
#define END_OF_LINE  "\n\033[K"
#define CLEAR_REST   "\033[J"
/* Where the terminal is narrower than a line of the table can be, that is cut. */
#define WRAP_OFF "\033[?7l"
#define WRAP_ON	 "\033[?7h"

struct watch {
	struct kern *kern;
	struct fmt fmt;
	bool json;
	pid_t pid;
	const char *from;    /* a file, NULL: the kernel */
	uint64_t delay;	     /* nanoseconds, 0: not given */
	uint64_t walk;	     /* when the pages of the heap may be looked at again */
	unsigned long count; /* 0: no end */
	struct snap snaps[2];
	struct sample sample;
	struct sparks history;
};

static int print_sample(struct watch *watch)
{
	struct fmt *fmt = &watch->fmt;
	int err;

	if (watch->json)
		return watch_json(fmt, &watch->sample);
	if (!fmt->terminal) {
		if (watch->sample.number > 1)
			fputc('\n', fmt->out);
		err = watch_text(fmt, &watch->sample, 0, "\n");
	} else {
		fmt_resize(fmt);
		fputs(watch->sample.number > 1 ? HOME : CLEAR_SCREEN, fmt->out);
		fputs(WRAP_OFF, fmt->out);
		/* Leave a line for the cursor. */
		err = watch_text(fmt, &watch->sample, fmt->height - 1, END_OF_LINE);
		fputs(CLEAR_REST WRAP_ON, fmt->out);
	}
	fflush(fmt->out);
	return err;
}

/* Waits until @deadline or a signal to stop. */
static int wait_for_sample(struct watch *watch, uint64_t deadline, const sigset_t *waiting)
{
	uint64_t now;

	while (!stopped && (now = clock_ns(CLOCK_MONOTONIC)) < deadline) {
		struct timespec left = {
			.tv_sec = (time_t)((deadline - now) / NSEC_PER_SEC),
			.tv_nsec = (long)((deadline - now) % NSEC_PER_SEC),
		};

		ppoll(NULL, 0, &left, waiting);
		if (resized && watch->fmt.terminal && !watch->json && print_sample(watch))
			return -ENOMEM;
		resized = 0;
	}
	return 0;
}

/* Its pages are many: of a large process they are not looked at each time. */
static int read_heap(struct watch *watch, struct snap *snap)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), end;
	bool walks = start >= watch->walk;
	const struct proc *before = watch->sample.now;
	struct heap_view *heap;
	int err = heap_load_all(snap, walks ? HEAP_PAGES : HEAP_SUMS);

	heap = !err && snap->n_procs ? snap->procs[0].heap : NULL;
	if (!walks && heap && before && before->heap)
		return heap_carry(heap, before->heap);
	end = clock_ns(CLOCK_MONOTONIC);
	if (walks)
		watch->walk = end + (end - start) * WALK_SHARE;
	return err;
}

/* Takes the next sample; the current one becomes the previous one. */
static int take_sample(struct watch *watch)
{
	struct sample *sample = &watch->sample;
	struct snap *snap = &watch->snaps[sample->number % 2];
	int err;

	err = kern_tags(watch->kern, watch->pid, snap);
	if (!err)
		err = read_heap(watch, snap);
	if (err)
		return err;
	sample->before = sample->now;
	sample->now = snap->procs;
	sample->time_ms = clock_ns(CLOCK_REALTIME) / 1000000;
	sample->number++;
	if (!watch->fmt.terminal || watch->json)
		return 0;
	sample->history = &watch->history;
	return spark_add(&watch->history, sample->now, sample->before);
}

static int watch_process(struct watch *watch)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC), now;
	sigset_t waiting;

	if (stop_begin(&waiting, NULL))
		return fail_memory();
	while (!stopped) {
		int err = take_sample(watch);

		if ((err == -ESRCH || err == -ENOENT) && watch->sample.number) {
			fail_print(err == -ESRCH ? "process %d has ended"
						 : "process %d is no longer tracked",
				   (int)watch->pid);
			return CTL_OK;
		}
		if (err)
			return err == -ENOMEM ? fail_memory()
					      : fail_pid(watch->kern, "read", watch->pid, err);
		if (print_sample(watch))
			return fail_memory();
		if (ferror(watch->fmt.out) || watch->sample.number == watch->count)
			return CTL_OK;
		next += watch->delay;
		now = clock_ns(CLOCK_MONOTONIC);
		if (next < now) /* too slow for this delay: do not catch up */
			next = now;
		if (wait_for_sample(watch, next, &waiting))
			return fail_memory();
	}
	return CTL_OK;
}

static bool watch_option(struct watch *watch, int opt, const char *value)
{
	switch (opt) {
	case 'd':
		if (!parse_seconds(value, &watch->delay))
			return true;
		fail_print("watch: invalid delay '%s' (" PARSE_SECONDS ")", value);
		return false;
	case 'n':
		return option_count("watch", value, "samples", &watch->count);
	default:
		watch->from = value;
		return true;
	}
}

static int watch_options(struct ctl *ctl, int argc, char **argv, struct watch *watch)
{
	static const struct option longs[] = {
		{"delay", required_argument, NULL, 'd'},
		{"count", required_argument, NULL, 'n'},
		{"from", required_argument, NULL, OPTION_FROM},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":d:n:" OPTION_SHORTS, longs)) >= 0)
		if (!watch_option(watch, opt, optarg))
			return OPTION_BAD;
	if (opt == OPTION_DONE && argc - optind != 1) {
		fail_print("watch takes one process id");
		return OPTION_BAD;
	}
	if (opt == OPTION_DONE && ctl->stats && !ctl->json) {
		fail_print("watch: -s is for the format json");
		return OPTION_BAD;
	}
	if (opt == OPTION_DONE && watch->from && watch->delay) {
		fail_print("watch: the samples of a file have their own times; "
			   "a delay is for live ones");
		return OPTION_BAD;
	}
	return opt;
}

static int watch_live(struct watch *watch)
{
	int status, err = kern_open(&watch->kern);

	if (err)
		return fail_open(err);
	if (!watch->delay)
		watch->delay = NSEC_PER_SEC;
	if (!watch->count && !watch->json && !watch->fmt.terminal)
		watch->count = 1;
	status = watch_process(watch);
	snap_clear(&watch->snaps[0]);
	snap_clear(&watch->snaps[1]);
	spark_clear(&watch->history);
	kern_close(watch->kern);
	return status;
}

int cmd_watch(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(freep) pid_t *pids = NULL;
	struct watch watch = {0};
	int status, opt = watch_options(ctl, argc, argv, &watch);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = option_pids(1, argv + optind, &pids);
	if (status)
		return status;
	watch.pid = pids[0];
	watch.json = ctl->json;
	fmt_init(&watch.fmt, ctl);
	if (watch.from)
		return play_file(&watch.fmt, watch.json, watch.from, watch.pid, watch.count);
	return watch_live(&watch);
}
