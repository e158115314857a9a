// SPDX-License-Identifier: GPL-2.0
/* mtagctl watch: the tags of one process, repeatedly. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/watch.h"
#include "kern.h"
#include "option.h"
#include "parse.h"

#define NSEC_PER_SEC 1000000000ULL

#define CLEAR_SCREEN "\033[H\033[2J"
#define HOME	     "\033[H"
#define CLEAR_REST   "\033[J"
#define END_OF_LINE  "\033[K\n"

static volatile sig_atomic_t stopped, resized;

struct watch {
	struct kern *kern;
	struct fmt fmt;
	bool json;
	pid_t pid;
	uint64_t delay;	     /* nanoseconds */
	unsigned long count; /* 0: no end */
	struct snap snaps[2];
	struct sample sample;
};

static void on_signal(int signal)
{
	if (signal == SIGWINCH)
		resized = 1;
	else
		stopped = 1;
}

/* Signals are blocked except during the wait, so none is missed between two waits. */
static void catch_signals(sigset_t *waiting)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGWINCH};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&blocked, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, waiting);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigdelset(waiting, signals[i]);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

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
		/* Leave a line for the cursor. */
		err = watch_text(fmt, &watch->sample, fmt->height - 1, END_OF_LINE);
		fputs(CLEAR_REST, fmt->out);
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

/* Takes the next sample; the current one becomes the previous one. */
static int take_sample(struct watch *watch)
{
	struct sample *sample = &watch->sample;
	struct snap *snap = &watch->snaps[sample->number % 2];
	int err;

	err = kern_tags(watch->kern, watch->pid, snap);
	if (err)
		return err;
	sample->before = sample->now;
	sample->now = snap->procs;
	sample->time_ms = clock_ns(CLOCK_REALTIME) / 1000000;
	sample->number++;
	return 0;
}

static int watch_process(struct watch *watch)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC), now;
	sigset_t waiting;

	catch_signals(&waiting);
	while (!stopped) {
		int err = take_sample(watch);

		if ((err == -ESRCH || err == -ENOENT) && watch->sample.number) {
			fail_print(err == -ESRCH ? "process %d has ended"
						 : "process %d is no longer tracked",
				   (int)watch->pid);
			return CTL_OK;
		}
		if (err)
			return fail_pid(watch->kern, "read", watch->pid, err);
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

static int watch_options(struct ctl *ctl, int argc, char **argv, struct watch *watch)
{
	static const struct option longs[] = {
		{"delay", required_argument, NULL, 'd'},
		{"count", required_argument, NULL, 'n'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":d:n:" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 'd' && parse_seconds(optarg, &watch->delay)) {
			fail_print("watch: invalid delay '%s' (seconds, at least 0.01)", optarg);
			return OPTION_BAD;
		}
		if (opt == 'n' && parse_count(optarg, &watch->count)) {
			fail_print("watch: invalid count '%s' (samples, at least 1)", optarg);
			return OPTION_BAD;
		}
	}
	if (opt == OPTION_DONE && argc - optind != 1) {
		fail_print("watch takes one process id");
		return OPTION_BAD;
	}
	return opt;
}

int cmd_watch(struct ctl *ctl, int argc, char **argv)
{
	struct watch watch = {.delay = NSEC_PER_SEC};
	_cleanup_(freep) pid_t *pids = NULL;
	int status, err, opt = watch_options(ctl, argc, argv, &watch);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = option_pids(1, argv + optind, &pids);
	if (status)
		return status;
	watch.pid = pids[0];
	watch.json = ctl->json;
	fmt_init(&watch.fmt, ctl);
	if (!watch.count && !watch.json && !watch.fmt.terminal)
		watch.count = 1;
	err = kern_open(&watch.kern);
	if (err)
		return fail_open(err);
	status = watch_process(&watch);
	snap_clear(&watch.snaps[0]);
	snap_clear(&watch.snaps[1]);
	kern_close(watch.kern);
	return status;
}
